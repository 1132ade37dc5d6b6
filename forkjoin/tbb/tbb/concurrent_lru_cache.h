#pragma once

#include "detail/onetbb.h"

#define tbb fj_onetbb
#include <oneapi/tbb/detail/../concurrent_lru_cache.h>
#undef tbb

namespace tbb {
using fj_onetbb::concurrent_lru_cache;
}
