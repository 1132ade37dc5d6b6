#pragma once

#include "detail/runtime.h"

namespace tbb { namespace info {

inline int default_concurrency() { return static_cast<int>(fj::procs()); }

}}  // namespace tbb::info
