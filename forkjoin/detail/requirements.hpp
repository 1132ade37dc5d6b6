// Ends the compilation with one message if the library cannot be used by this compiler, or with its flags. Every header that
// programs include begins with this one.
#pragma once

#include "../runtime/os/requirements.hpp"
