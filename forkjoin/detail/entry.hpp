// The way from the public headers to the runtime, and the only one. Installed, the folder runtime/ lies in this folder and
// not beside it, so meson.build installs this header with that path.
#pragma once

#include "../../runtime/entry.hpp"
