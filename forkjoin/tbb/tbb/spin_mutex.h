#pragma once

#include "detail/scoped_lock.h"

namespace tbb {
using spin_mutex = fj_detail::exclusive;
using speculative_spin_mutex = spin_mutex;
}  // namespace tbb
