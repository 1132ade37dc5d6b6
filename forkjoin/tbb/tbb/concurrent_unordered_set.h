#pragma once

#include "detail/onetbb.h"

#define tbb fj_onetbb
#include <oneapi/tbb/detail/../concurrent_unordered_set.h>
#undef tbb

namespace tbb {
using fj_onetbb::concurrent_unordered_multiset;
using fj_onetbb::concurrent_unordered_set;
}  // namespace tbb
