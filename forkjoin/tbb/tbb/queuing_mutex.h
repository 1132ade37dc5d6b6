#pragma once

#include "detail/scoped_lock.h"

namespace tbb {
class queuing_mutex : public fj_detail::exclusive<queuing_mutex> {};
}  // namespace tbb
