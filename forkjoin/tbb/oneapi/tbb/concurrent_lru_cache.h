#include "../../tbb/concurrent_lru_cache.h"
