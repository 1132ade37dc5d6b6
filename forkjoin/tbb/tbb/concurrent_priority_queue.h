#pragma once

#include "detail/onetbb.h"

#define tbb fj_onetbb
#include <oneapi/tbb/detail/../concurrent_priority_queue.h>
#undef tbb

namespace tbb {
using fj_onetbb::concurrent_priority_queue;
}
