// The timer of a wait that has a deadline. runtime/sched/timer_heap.hpp keeps them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace fj { inline namespace v0_4 { namespace detail {

/// The time, in nanoseconds of the machine's clock, that does not come.
inline constexpr std::int64_t never = (std::numeric_limits<std::int64_t>::max)();

/// When a fiber that becomes ready gets its turn: behind what was ready before, or before it. Soon is what no strand of
/// the runtime has made ready, but a timer, the poller, or a thread outside. Urgent is what goes before that, whatever
/// has made it ready (fj::go_options).
enum class precedence : unsigned char { in_order, soon, urgent };

/// Lies in the frame of what waits.
class timer {
 public:
  explicit timer(std::int64_t due) noexcept : at(due) {}
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  /// Whether the timer is the first to end its wait: then wake is called, as the last that touches the timer. The
  /// caller holds the heap's mutex.
  virtual bool claim_wait() noexcept = 0;
  /// Without that mutex. `its`: the precedence of the waiter.
  virtual void wake(precedence its) noexcept = 0;

  const std::int64_t at;  ///< when it is due

  // The heap's own, under its mutex. Public, because to a friend the destructor is accessible, too, which
  // -Wnon-virtual-dtor reports.
  static constexpr std::size_t not_armed = ~std::size_t{0};
  std::size_t place = not_armed;
  timer* next = nullptr;  // among those that fire together

 protected:
  ~timer() = default;
};

}}}  // namespace fj::v0_4::detail
