#pragma once

#error \
    "forkjoin has no <tbb/scalable_allocator.h>: it stays oneTBB's. Keep what needs it in sources of their own, compiled with oneTBB."
