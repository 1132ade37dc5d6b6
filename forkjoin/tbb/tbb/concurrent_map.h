#pragma once

#include "detail/onetbb.h"

#define tbb fj_onetbb
#include <oneapi/tbb/detail/../concurrent_map.h>
#undef tbb

namespace tbb {
using fj_onetbb::concurrent_map;
using fj_onetbb::concurrent_multimap;
}  // namespace tbb
