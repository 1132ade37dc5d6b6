#pragma once

#include "detail/scoped_lock.h"

namespace tbb {
class spin_rw_mutex : public fj_detail::shared<spin_rw_mutex> {};
class speculative_spin_rw_mutex : public fj_detail::shared<speculative_spin_rw_mutex> {};
}  // namespace tbb
