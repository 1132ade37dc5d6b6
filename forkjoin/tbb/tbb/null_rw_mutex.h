#pragma once

#include "detail/scoped_lock.h"

namespace tbb {

class null_rw_mutex {
 public:
  using scoped_lock = fj_detail::shared_scoped_lock<null_rw_mutex>;
  static constexpr bool is_rw_mutex = true, is_recursive_mutex = true, is_fair_mutex = true;
  void lock() {}
  bool try_lock() { return true; }
  void unlock() {}
  void lock_shared() {}
  bool try_lock_shared() { return true; }
  void unlock_shared() {}
};

}  // namespace tbb
