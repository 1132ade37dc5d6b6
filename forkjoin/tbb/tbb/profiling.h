#pragma once

#error \
    "forkjoin has no <tbb/profiling.h>: containers, allocators and the flow graph stay those of oneTBB. Keep them in sources of their own, compiled with oneTBB."
