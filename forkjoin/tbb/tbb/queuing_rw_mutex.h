#pragma once

#include "detail/scoped_lock.h"

namespace tbb {
using queuing_rw_mutex = fj_detail::shared;
}
