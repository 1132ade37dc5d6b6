#pragma once

#include "detail/bounded_queue.h"

#define tbb fj_onetbb
#include <oneapi/tbb/detail/../concurrent_queue.h>
#undef tbb

namespace tbb {
using fj_onetbb::concurrent_queue;
}
