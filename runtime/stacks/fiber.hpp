// G: a stack, and the context saved on it while it does not run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

#include "forkjoin/abi/check.hpp"
#include "forkjoin/abi/relaxed.hpp"
#include "forkjoin/abi/scope.hpp"
#include "runtime/base/counters.hpp"
#include "runtime/fork/deque.hpp"
#include "runtime/fork/job.hpp"
#include "runtime/fork/runnable.hpp"
#include "runtime/os/context/context.hpp"
#include "runtime/os/memory/pages.hpp"
#include "runtime/stacks/wait_place.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class stack_pool;

/// What a fiber does. Each state names the owner of the fiber, and that owner sets the next state.
enum class fiber_state : unsigned char {
  free,      ///< owned by the pool, by the worker of the P that keeps it, or by the fiber that it is below
  runnable,  ///< owned by the worker that takes it from the ready queue, or that is about to run it
  running,   ///< owned by its strand
  blocking,  ///< its strand is in a call of fj::blocking: owned by its strand
  forked,    ///< its strand has forked in a scope, and the child runs: owned by the child, or by a thief of the parent
  waiting  ///< owned by who ends its wait: the last to arrive at its join, or who claimed it (forkjoin/abi/waiter.hpp)
};

/// What a strand does after a scope's fork, as thieves take it.
struct parent_rest : continuation {
  parent_rest() noexcept : continuation(nullptr) {}
};

/// Lies at the top of its own stack's mapping and lives as long as the mapping, which is never freed while the runtime
/// lives. It is the record of its strand's scope forks, of which one at a time is open.
struct fiber : fiber_face, join_waiter, runnable, parent_rest {
  /// Stands in the ready queue for `records`.
  struct deque_marker : runnable {
    explicit deque_marker(fiber& f) noexcept : runnable(kind::marker), of(f) {}
    fiber& of;
  };

  fiber() noexcept : runnable(kind::fiber) {}

  static fiber& of_marker(runnable& marker) noexcept { return static_cast<deque_marker&>(marker).of; }

  /// Asserts, in debug builds, that the state may follow the one before.
  void becomes(fiber_state now) noexcept {
#ifdef FORKJOIN_DEBUG
    FORKJOIN_CHECK(may_follow(state, now));
#endif
    state = now;
  }

  /// The same where a scope forks, in debug builds alone: in others these changes are not worth an instruction.
  void becomes_at_fork([[maybe_unused]] fiber_state now) noexcept {
#ifdef FORKJOIN_DEBUG
    becomes(now);
#endif
  }

  /// A thief has a record of its strand, or may have had some, since the strand comes to a worker again.
  void note_possible_theft() noexcept { thefts = thefts + 1; }

  relaxed<job*> whose = nullptr;            ///< the job that it works for
  relaxed<bool> begun = false;              ///< to run a job or a stolen record; else it is a scope's child, or free
  relaxed<continuation*> stolen = nullptr;  ///< the record it was begun for; nullptr if it runs a job
  relaxed<std::int64_t> begun_at = 0;  ///< when it began with a record that its worker stole, by os::now_ns; else 0
  /// When the last branch came to the join at which it waits; 0: before it did wait.
  relaxed<std::int64_t> arrived_at = 0;
  /// When it became ready, by os::now_ns, if that is measured; else 0. And for how many fibers it stands.
  relaxed<std::int64_t> ready_at = 0;
  relaxed<unsigned> ready_for = 1;
  relaxed<bool> runs_on_top = false;      ///< it waits at a join, and runs another record on top
  relaxed<void*> handled = nullptr;       ///< the exception that the parent of that record handles; nullptr: none
  relaxed<join*> until_stolen = nullptr;  ///< for a scope's child, with steal_every_fork: where it waits for its thief
  /// The deque, with records, that it left behind when it suspended; else nullptr. Under the dispatcher's mutex.
  relaxed<deque*> records = nullptr;
  deque_marker marker{*this};
  relaxed<deque*> carried = nullptr;  ///< the deque, with records, that it took along when it gave way; else nullptr
  /// Nanoseconds, by os::rough_ns, that it had of its slice when it was cut, if it goes on with the rest; else 0.
  relaxed<std::uint64_t> had = 0;
  relaxed<stack_tally*> counted = nullptr;  ///< the counter of the P that took the stack
  /// Others read whether it is waiting or runnable, before what it waits for.
  published<fiber_state> state = fiber_state::free;
  relaxed<bool> urgent = false;    ///< as its job, which it may outlive
  shown_wait_place waits;          ///< while it waits
  fiber* mapped_before = nullptr;  ///< in the pool's list of all its fibers
  /// Guard, stack, this object, and a page that is also a guard where that costs no mapping.
  std::byte* mapping = nullptr;
  std::size_t mapping_size = 0;
  std::size_t guard_size = 0;
  os::guard guard = os::guard::region;  ///< none: see overflow.hpp
  relaxed<bool> marked = false;         ///< see trim_stack
  relaxed<unsigned> trims = 0;          ///< see trim_stack
  relaxed<unsigned> lasting_calls = 0;  ///< how many of its last calls of fj::blocking lasted; see blocking_call
  relaxed<std::source_location> started_at = {};  ///< as its job, which others cannot look at: it may end meanwhile
  relaxed<unsigned> number = 0;                   ///< for messages, of other threads, too, and traces
  relaxed<const void*> traced = nullptr;          ///< the trace that knows where its stack is
  stack_pool* pool = nullptr;                     ///< the pool that it belongs to

  std::byte* stack_bottom() const noexcept { return mapping + guard_size; }
  std::byte* stack_top() noexcept { return reinterpret_cast<std::byte*>(this); }
  std::size_t stack_size() const noexcept {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(this) - stack_bottom());
  }

 private:
  static constexpr bool may_follow(fiber_state before, fiber_state next) noexcept {
    switch (next) {
      case fiber_state::waiting:
        return before == fiber_state::running || before == fiber_state::blocking;
      case fiber_state::free:
      case fiber_state::blocking:
      case fiber_state::forked:
        return before == fiber_state::running;
      case fiber_state::runnable:
        return before == fiber_state::free || before == fiber_state::waiting;
      case fiber_state::running:
        // From free: a scope's child, called. From blocking: it has its P still.
        return before != fiber_state::waiting && before != fiber_state::running;
    }
    return false;
  }
};

}}}  // namespace fj::v0_4::detail
