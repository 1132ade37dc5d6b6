// The one context that the forks of oneTBB share in some of its ways.
#pragma once

#include <tbb/task_group.h>

namespace bench::ways {

inline ::tbb::task_group_context& shared_context() {
  static ::tbb::task_group_context context(::tbb::task_group_context::isolated);
  return context;
}

}  // namespace bench::ways
