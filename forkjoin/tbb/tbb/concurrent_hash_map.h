#pragma once

#include "detail/onetbb.h"

#define tbb fj_onetbb
#include <oneapi/tbb/detail/../concurrent_hash_map.h>
#undef tbb

namespace tbb {
using fj_onetbb::concurrent_hash_map;
using fj_onetbb::tbb_hash_compare;
}  // namespace tbb
