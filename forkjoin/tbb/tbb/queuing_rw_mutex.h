#pragma once

#include "detail/scoped_lock.h"

namespace tbb {
class queuing_rw_mutex : public fj_detail::shared<queuing_rw_mutex> {};
}  // namespace tbb
