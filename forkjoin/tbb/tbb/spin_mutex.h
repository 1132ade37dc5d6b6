#pragma once

#include "detail/scoped_lock.h"

namespace tbb {
class spin_mutex : public fj_detail::exclusive<spin_mutex> {};
class speculative_spin_mutex : public fj_detail::exclusive<speculative_spin_mutex> {};
}  // namespace tbb
