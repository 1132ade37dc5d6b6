#pragma once

#include "detail/onetbb.h"

// Their nodes without a value are cut short on purpose, which g++ sees here, as the allocation is inline.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#define tbb fj_onetbb
#include <oneapi/tbb/detail/../concurrent_unordered_set.h>
#undef tbb
#pragma GCC diagnostic pop

namespace tbb {
using fj_onetbb::concurrent_unordered_multiset;
using fj_onetbb::concurrent_unordered_set;
}  // namespace tbb
