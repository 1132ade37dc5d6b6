#pragma once

#include "detail/scoped_lock.h"

namespace tbb {
using mutex = fj_detail::exclusive;
}
