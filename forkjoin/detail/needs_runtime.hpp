// The first header in those of what has no serial form: ends the compilation of the serial build with one message.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#ifdef FORKJOIN_SERIAL
#error "forkjoin: the serial build has forks, scopes and loops, but no fibers, waits or locks"
#include <the compilation ends here, because of the error above>
#endif
