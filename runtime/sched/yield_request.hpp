// A request to give way, to the strand of one P; and whether any strand of the process has one.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/maybe_yield.hpp"
#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Of a P. Run 0 is none; a strand that runs when the count of runs has wrapped around to it may give way unasked.
class yield_request {
 public:
  /// By the monitor, or a thread that makes a fiber ready: before it sends a request to the deque.
  void ask(std::uint32_t run) noexcept { run_.store(run, std::memory_order_relaxed); }

  /// By the strand of that run. relaxed: a strand that found the deque's request has cleared it since
  /// (fork/deque_owner.hpp: attend), which pairs with the one in time_slices.hpp: ask, so it sees this word; elsewhere
  /// it is a hint.
  bool concerns(std::uint32_t run) const noexcept { return run != 0 && run_.load(std::memory_order_relaxed) == run; }

  /// By the strand of that run: it has heard a request that is no more needed.
  void refuse() noexcept { run_.store(0, std::memory_order_relaxed); }

 private:
  os::atomic<std::uint32_t> run_{0};
};

}}}  // namespace fj::v0_4::detail
