// The way from the public headers to the runtime, and the only one. Installed, the folder runtime/ lies in forkjoin/, so that no
// program sees a <runtime/...> of this library; in the source forkjoin/runtime is a link.
#pragma once

#include "../runtime/entry.hpp"
