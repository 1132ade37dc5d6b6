// P: the right to run fibers, and what goes with it.
#pragma once

#include <atomic>

#include "../base/cache_line.hpp"
#include "../base/counters.hpp"
#include "../fork/deque.hpp"

namespace fj::inline v0_1::detail {

/// Belongs to the worker that holds it; others read `active` to steal, and the counters.
struct alignas(cache_line) processor {
  /// The deque of the running fiber; empty while none runs. Never nullptr, and what it points to is never freed.
  std::atomic<deque*> active{nullptr};
  unsigned index = 0;
  unsigned tick = 0;          ///< fibers that went on for another; every 61st time the global queue comes first
  processor* next = nullptr;  ///< among the idle ones
  alignas(cache_line) tallies count;
};

}  // namespace fj::inline v0_1::detail
