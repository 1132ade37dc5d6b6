#pragma once

#error \
    "forkjoin has no <tbb/task_scheduler_observer.h>: it stays oneTBB's. Keep what needs it in sources of their own, compiled with oneTBB."
