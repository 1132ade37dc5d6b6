#pragma once

#error \
    "forkjoin has no <tbb/blocked_rangeNd.h>: it stays oneTBB's. Keep what needs it in sources of their own, compiled with oneTBB."
