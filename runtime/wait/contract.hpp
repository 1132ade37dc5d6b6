// What the waits of this folder ask of the strands and threads that they are compiled for: the library's (hooks.hpp), and
// the models' (test/model/waits.hpp). To be included after those.
#pragma once

#include <concepts>
#include <cstdint>
#include <stop_token>

#include "forkjoin/abi/timer.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/sched/timer_heap.hpp"
#include "runtime/stacks/wait_place.hpp"
#include "runtime/wait/hooks.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

struct fiber;
class scheduler;
struct worker;

/// hooks.hpp says what each does.
template <class Hooks>
concept hooks_for_waits = requires(scheduler& of, fiber& f, timer& t, const wait_place& place,
                                   fiber* (*then)(worker&, fiber&, void*) noexcept, void* argument,
                                   os::atomic<std::uint32_t>& word, std::int64_t until, turn when, unsigned limit) {
  { Hooks::prepare_to_wait(until) } -> std::same_as<scheduler*>;
  { Hooks::prepare_again() } -> std::same_as<bool>;
  { Hooks::arm(t) } -> std::same_as<timer_heap&>;
  Hooks::suspend(of, place, then, argument);
  Hooks::resume(of, f, when);
  Hooks::come_after_stop();
  Hooks::sleep_for_good(word, place);
  { Hooks::random_below(limit) } -> std::same_as<unsigned>;
  typename Hooks::outside_for_more;
  requires std::constructible_from<typename Hooks::template stop_callback<void (*)()>, const std::stop_token&,
                                   void (*)()>;
};

}}}  // namespace fj::v0_2::detail
