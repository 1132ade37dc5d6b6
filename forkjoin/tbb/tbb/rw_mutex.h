#pragma once

#include "detail/scoped_lock.h"

namespace tbb {
using rw_mutex = fj_detail::shared;
}
