#pragma once

#include "detail/scoped_lock.h"

namespace tbb {
using spin_rw_mutex = fj_detail::shared;
using speculative_spin_rw_mutex = spin_rw_mutex;
}  // namespace tbb
