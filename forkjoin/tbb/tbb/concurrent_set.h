#pragma once

#include "detail/onetbb.h"

#define tbb fj_onetbb
#include <oneapi/tbb/detail/../concurrent_set.h>
#undef tbb

namespace tbb {
using fj_onetbb::concurrent_multiset;
using fj_onetbb::concurrent_set;
}  // namespace tbb
