#pragma once

#include "detail/scoped_lock.h"

namespace tbb {
using queuing_mutex = fj_detail::exclusive;
}
