#pragma once

#include "detail/scoped_lock.h"

namespace tbb {
class mutex : public fj_detail::exclusive<mutex> {};
}  // namespace tbb
