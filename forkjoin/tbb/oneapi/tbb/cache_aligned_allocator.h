#include "../../tbb/cache_aligned_allocator.h"
