#pragma once

#error \
    "forkjoin has no <tbb/collaborative_call_once.h>: it stays oneTBB's. fj::once of <forkjoin/go.hpp> does the same. Keep what needs it in sources of their own, compiled with oneTBB."
