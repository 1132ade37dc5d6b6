// Waits until so many have arrived, again and again.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "forkjoin/abi/wait_queue.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

struct no_completion {
  void operator()() noexcept {}
};

/// What does not depend on the completion.
class phases {
 public:
  struct arrival {
    bool counted;  ///< else `n` was wrong, and nothing has changed
    bool last;     ///< of its phase: the caller is to call begin_next
    std::uint64_t phase;
  };

  explicit phases(std::ptrdiff_t expected) noexcept : expected_(expected), left_(expected) {}

  /// So many arrive; of these, `dropped` do not in later phases.
  arrival arrive(std::ptrdiff_t n, std::ptrdiff_t dropped) noexcept;
  void begin_next() noexcept;
  /// Waits until that phase is over.
  wait_end wait(std::uint64_t phase, const wait_limits& limits);

 private:
  os::mutex guard_;
  std::ptrdiff_t expected_ FORKJOIN_GUARDED_BY(guard_);  // in the next phase
  std::ptrdiff_t left_ FORKJOIN_GUARDED_BY(guard_);      // in this one
  std::uint64_t phase_ FORKJOIN_GUARDED_BY(guard_) = 0;
  wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

}  // namespace detail

/// As std::barrier. A strand that waits leaves its worker to others, so one P is enough for any number of them; each
/// keeps its stack meanwhile. Where the parts of a phase are iterations of a loop, a loop for each phase needs no
/// stacks and no barrier. Cost of an arrival, and of a wait that has nothing to wait for: a lock.
template <class Completion = detail::no_completion>
class barrier {
 public:
  /// Of which phase an arrival is.
  class arrival_token {
   public:
    arrival_token(arrival_token&&) = default;
    arrival_token& operator=(arrival_token&&) = default;

   private:
    friend barrier;
    explicit arrival_token(std::uint64_t phase) noexcept : phase_(phase) {}
    std::uint64_t phase_;
  };

  static constexpr std::ptrdiff_t(max)() noexcept { return (std::numeric_limits<std::ptrdiff_t>::max)(); }

  /// So many arrive in each phase. The last one of a phase calls `completion` before the others go on. Throws
  /// std::invalid_argument if `expected` is negative.
  explicit barrier(std::ptrdiff_t expected, Completion completion = Completion())
      : phases_(expected), completion_(std::move(completion)) {
    if (expected < 0)
      throw std::invalid_argument("fj::barrier: expected is " + std::to_string(expected) + "; set it to 0 or more");
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  /// So many arrive, without a wait. What the completion throws, if this was the last arrival, comes from here, when
  /// the next phase has begun. Throws std::logic_error if `n` is not positive or more than are still expected; then
  /// nothing has changed.
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t n = 1) {
    return arrival_token(arrived("fj::barrier::arrive", n, 0));
  }

  /// Waits until the phase of that arrival, which must be one of this barrier, is over. Throws fj::cancelled if
  /// options.stop is asked to stop during the wait, fj::timed_out if the time options.until comes, std::bad_alloc if
  /// there is no memory for the wait.
  void wait(arrival_token&& arrival, wait_options options = {}) {
    detail::throw_if_limited(phases_.wait(arrival.phase_, detail::limits_of(options, "fj::barrier::wait")));
  }

  /// arrive, then wait; throws what either throws. If the wait throws, the strand has arrived all the same, and must
  /// not arrive once more for that phase: who may have to go on waiting keeps the token of arrive.
  void arrive_and_wait(wait_options options = {}) {
    constexpr auto call = "fj::barrier::arrive_and_wait";
    const std::uint64_t phase = arrived(call, 1, 0);
    detail::throw_if_limited(phases_.wait(phase, detail::limits_of(options, call)));
  }

  /// Arrives, and one less is expected in each phase after this one. Throws as arrive.
  void arrive_and_drop() { arrived("fj::barrier::arrive_and_drop", 1, 1); }

 private:
  std::uint64_t arrived(const char* call, std::ptrdiff_t n, std::ptrdiff_t dropped) {
    const detail::phases::arrival here = phases_.arrive(n, dropped);
    if (!here.counted)
      throw std::logic_error(std::string(call) + ": the number of arrivals is " + std::to_string(n) +
                             "; it must be 1 or more, and not more than are still expected in this phase");
    if (here.last) {
      // Also if the completion throws: the others would wait forever.
      const struct next_phase {
        ~next_phase() { of.begin_next(); }
        detail::phases& of;
      } then{phases_};
      completion_();
    }
    return here.phase;
  }

  detail::phases phases_;
  Completion completion_;
};

}}  // namespace fj::v0_4
