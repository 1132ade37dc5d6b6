// What a machine must offer besides to waits, and to fence_by_signal.hpp: sleeps and interrupts. Simulated workers have
// neither. To be included after the machine.
#pragma once

#include <concepts>
#include <cstdint>

#include "runtime/os/contract.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template <template <class> class Atomic, class Mutex>
concept machine_for_waits =
    machine_for_rules<Atomic, Mutex> && requires(Atomic<std::uint32_t>& word, std::uint32_t expected,
                                                 std::int64_t until, int thread, void (*answer)(void*) noexcept) {
      os::futex_wait(word, expected);
      { os::futex_wait_until(word, expected, until) } -> std::same_as<bool>;
      os::futex_wake(word);
      os::on_interrupt(answer, nullptr);
      os::interrupt(thread);
      { os::blocks_interrupts() } -> std::same_as<bool>;
      { os::this_thread() } -> std::same_as<int>;
    };

}}}  // namespace fj::v0_2::detail
