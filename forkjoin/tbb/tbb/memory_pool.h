#pragma once

#error \
    "forkjoin has no <tbb/memory_pool.h>: the memory pool and the flow graph stay those of oneTBB. Keep them in sources of their own, compiled with oneTBB."
