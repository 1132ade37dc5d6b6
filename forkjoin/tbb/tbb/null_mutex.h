#pragma once

#include "detail/scoped_lock.h"

namespace tbb {

class null_mutex {
 public:
  using scoped_lock = fj_detail::unique_scoped_lock<null_mutex>;
  static constexpr bool is_rw_mutex = false, is_recursive_mutex = true, is_fair_mutex = true;
  void lock() {}
  bool try_lock() { return true; }
  void unlock() {}
};

}  // namespace tbb
