#include "../../tbb/concurrent_priority_queue.h"
