// Waits of the runtime's strands, and of threads outside of any runtime.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>

#include "../os/machine.hpp"
#include "../sched/timer_heap.hpp"
#include "outside_threads.hpp"
#include "waiting.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

struct fiber;
struct worker;
class scheduler;

/// The machine of basic_waiter.
struct waiter_system : machine {
  using fiber = detail::fiber;
  using scheduler = detail::scheduler;
  using timer = basic_timer<machine>;
  using waits_outside_for_more = detail::waits_outside_for_more;
  using worker = detail::worker;

  template <class F>
  using stop_callback = std::stop_callback<F>;

  static scheduler* prepare_to_wait(std::int64_t until);
  static bool prepare_again() noexcept;
  static basic_timer_heap<machine>& arm(timer& t) noexcept;
  static void suspend(scheduler& of, const wait_place& place, fiber* (*then)(worker&, fiber&, void*) noexcept,
                      void* argument) noexcept;
  static void resume(scheduler& of, fiber& f) noexcept;
  static void come_after_stop() noexcept;
  static void yield_thread() noexcept;

  static void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
  static bool futex_wait_until(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t until) noexcept;
  static void futex_wake(std::atomic<std::uint32_t>& word) noexcept;
  static void sleep_for_good(std::atomic<std::uint32_t>& word, const wait_place& place) noexcept;
};

extern template class basic_waiter<waiter_system>;

class waiter final : public basic_waiter<waiter_system> {
 public:
  using basic_waiter::basic_waiter;
};

}}}  // namespace fj::v0_2::detail
