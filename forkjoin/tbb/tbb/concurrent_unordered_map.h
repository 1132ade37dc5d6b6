#pragma once

#include "detail/onetbb.h"

#define tbb fj_onetbb
#include <oneapi/tbb/detail/../concurrent_unordered_map.h>
#undef tbb

namespace tbb {
using fj_onetbb::concurrent_unordered_map;
using fj_onetbb::concurrent_unordered_multimap;
}  // namespace tbb
