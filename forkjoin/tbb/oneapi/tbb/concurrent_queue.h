#include "../../tbb/concurrent_queue.h"
