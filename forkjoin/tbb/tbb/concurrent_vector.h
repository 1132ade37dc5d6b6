#pragma once

#include "detail/onetbb.h"

#define tbb fj_onetbb
#include <oneapi/tbb/detail/../concurrent_vector.h>
#undef tbb

namespace tbb {
using fj_onetbb::concurrent_vector;
}
