// The machine of the runtime's waits: a strand leaves its stack, a thread outside of any runtime sleeps.
#pragma once

#include <cstdint>
#include <mutex>

#include "../os/clock.hpp"
#include "../os/machine.hpp"
#include "wait_queue.hpp"
#include "waiter.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// A waiting_machine.
struct wait_system : machine {
  using waiter = detail::waiter;

  static std::int64_t now_ns() noexcept { return os::now_ns(); }
  static unsigned random_below(unsigned n) noexcept;
};

using wait_entry = basic_wait_entry<wait_system>;
using wait_queue = basic_wait_queue<wait_system>;
using claimed_waits = basic_claimed_waits<wait_system>;

extern template wait_end wait_in(wait_queue& queue, std::unique_lock<os::mutex>& held, void* item,
                                 const wait_limits& limits);

}}}  // namespace fj::v0_2::detail
