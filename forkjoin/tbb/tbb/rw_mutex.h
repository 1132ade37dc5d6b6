#pragma once

#include "detail/scoped_lock.h"

namespace tbb {
class rw_mutex : public fj_detail::shared<rw_mutex> {};
}  // namespace tbb
