// The requirements of this folder's templates on their Machine, the type that supplies waiting strands and threads. There are
// two such types: the runtime's (wait/system.hpp) and that of the model checks (test/model/waits.hpp).
#pragma once

#include <concepts>
#include <cstdint>

#include "../fork/machine.hpp"
#include "waiting.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// `waiter` is one wait of one strand or thread, made of wait_limits; making it may throw std::bad_alloc. Any thread may claim it:
/// `claim(by)` is true once, and the one that claimed it writes its results and calls `wake`. Then `wait` returns what claim was
/// given, with acquire; if a limit ends the wait first, it returns which one (wait_winners). `now_ns` is the clock of the limits;
/// `random_below(n)` is a number below n.
template <class Machine>
concept waiting_machine =
    memory_machine<Machine> && std::constructible_from<typename Machine::waiter, const wait_limits&> &&
    requires(typename Machine::waiter& w) {
      { w.claim(0u) } -> std::same_as<bool>;
      w.wake();
      { w.wait() } -> std::same_as<unsigned>;
      { Machine::now_ns() } -> std::same_as<std::int64_t>;
      { Machine::random_below(2u) } -> std::same_as<unsigned>;
    };

}}}  // namespace fj::v0_2::detail
