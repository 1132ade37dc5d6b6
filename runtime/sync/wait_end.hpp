// The events that may end a wait, and the one that ended it.
#pragma once

#include <cstdint>
#include <stop_token>

#include "../schedule/timer_heap.hpp"
#include "../stacks/wait_place.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// What ends a wait besides that for which it waits.
struct wait_limits {
  std::int64_t until = never;             ///< a time of os::now_ns
  const std::stop_token* stop = nullptr;  ///< the wait ends when it is asked to stop
  wait_place place = {};
};

enum class wait_end { served, refused, stopped, timed_out };

/// What those that claim a wait tell the waiter: a number below first_limit, or which limit ended the wait.
struct wait_winners {
  static constexpr unsigned timed_out = ~0u - 1, stopped = ~0u - 2, first_limit = stopped;

  /// The end of a wait that was served if no limit ended it.
  static wait_end end_by(unsigned winner) noexcept {
    return winner == timed_out ? wait_end::timed_out : winner == stopped ? wait_end::stopped : wait_end::served;
  }
};

}}}  // namespace fj::v0_2::detail
