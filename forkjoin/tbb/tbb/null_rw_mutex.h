#pragma once

#error \
    "forkjoin has no <tbb/null_rw_mutex.h>: it stays oneTBB's. Keep what needs it in sources of their own, compiled with oneTBB."
