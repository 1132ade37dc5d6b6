// The way from the public headers to the runtime. Beside it there are only requirements.hpp, and in serial builds that have an observer
// races/observer.hpp and profile/observer.hpp: SEAMS in test/house/check.py. Installed, the folder runtime/ lies in forkjoin/, so that no
// program sees a <runtime/...> of this library; in the source forkjoin/runtime is a link.
#pragma once

#include "../runtime/entry.hpp"
