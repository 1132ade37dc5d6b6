// The exception that the owner of a deque handled at its forks. The deque keeps one for all its records, or none.
#pragma once

#include <atomic>

#include "deque_thief.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

struct handled_at_forks {
  /// Whether all records were forked while the owner handled that exception; then the deque keeps it for them. Handlers nest in
  /// forks: what the owner handles at the oldest record and handles now, it handled at all between. With the mutex.
  template <class Machine>
  static bool agree(basic_deque_thief<Machine>& d, void* handled) noexcept {
    if (d.public_.handled() == handled) return true;
    if (handled) {
      const record_name newest = d.newest_.load(std::memory_order_relaxed);
      if (newest == 0 || d.pushed_as(newest)->older.load(std::memory_order_relaxed) != 0) return false;
    }
    // Else all were forked after the handler, and none is public: unless this strand runs on top of another's join, and that
    // one's record is to be stolen still.
    if (d.has_public()) return false;
    be(d, handled);
    return true;
  }

  /// The exception of all records from now on. While none is public, with the mutex.
  template <class Machine>
  static void be(basic_deque_thief<Machine>& d, void* handled) noexcept {
    d.public_.belong_to(d.whose(), handled);
    d.public_.clear();
  }
};

}}}  // namespace fj::v0_2::detail
