#include "../../tbb/memory_pool.h"
