#pragma once

#error \
    "forkjoin has no <tbb/profiling.h>: it stays oneTBB's. Keep what needs it in sources of their own, compiled with oneTBB."
