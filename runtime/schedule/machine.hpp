// What the scheduling templates (dispatcher.hpp, search.hpp, owner.hpp, loop.hpp) ask of the machine that they run on. There
// are three: the runtime's (system.hpp), the model checks' (test/model), and the simulator's (bench/simulate). So a rule
// stands in one place, and a change of it changes all three.
#pragma once

#include <concepts>
#include <cstdint>

#include "../fork/machine.hpp"

namespace fj::inline v0_1::detail {

/// What the thread that wakes another does next: which processor is free for the other depends on it.
enum class waker { goes_on, sleeps };

/// Types:
/// - `deque`: basic_deque of the machine. `fiber`: derives from runnable, with `whose` (its root), `records` (the deque that
///   it left behind) and `marker`; `fiber::of_marker` finds it. `root`: `ready`, `caller` (the thread that waits for it),
///   `done`. `processor`: `active` (its deque), `next`, `count`. `processors`: all P, with `for_each_deque(visit)`, and with
///   `for_each_deque(first, step, visit)`, which goes on as long as visit returns true.
/// - `worker`: a thread. `proc` is its P; `spinning` says whether it is counted as looking; `asleep` and `sleeps` belong to the
///   dispatcher; `brought` is a caller's root; `sleep` returns after `signal`.
/// - `threads`: starts the runtime's own.
///
/// Functions besides those below: `prepare_stack(m)` has a stack at hand for what m steals, and `begin(m, record)` puts the
/// record onto it; `becomes_idle(p)`; `seems_empty(d)` looks at a deque without ordering anything for a race detector.
/// A worker that wakes a sleeping one calls `begin_placing` with the mutex held and `place` without it: that chooses a
/// processor for the woken thread, signals it, and lets it go on. `placed` waits for that.
template <class Machine>
concept scheduling_machine =
    memory_machine<Machine> &&
    requires(typename Machine::worker& m, typename Machine::processor& p, typename Machine::deque& d, waker then) {
      typename Machine::fiber;
      typename Machine::processors;
      typename Machine::root;
      typename Machine::threads;
      { Machine::now_ns() } -> std::same_as<std::int64_t>;
      Machine::pause();
      Machine::yield_thread();
      Machine::sleep_ns(std::int64_t{});
      { Machine::prepare_stack(m) } -> std::same_as<bool>;
      Machine::becomes_idle(p);
      { Machine::seems_empty(d) } -> std::same_as<bool>;
      Machine::begin_placing(m);
      Machine::place(m, then);
      Machine::end_placing(m);
      Machine::placed(m);
      Machine::keep_off(m);
    };

}  // namespace fj::inline v0_1::detail
