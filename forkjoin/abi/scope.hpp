// A scope's fork: the child runs on another stack, and thieves take the true continuation, the rest of the function
// that forked. runtime/README.md describes the life of such a fork.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "forkjoin/abi/context.hpp"
#include "forkjoin/abi/counting_join.hpp"
#include "forkjoin/abi/fork.hpp"
#include "forkjoin/abi/os/race_detector.hpp"
#include "forkjoin/abi/relaxed.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// The begin of a fiber, which lies at the top of its own stack: what programs see of it.
struct fiber_face {
  // What a scope's fork stores and loads.
  published<fiber*> below = nullptr;  ///< free stack for the next child that a scope forks from here
  record_stand_in as_child;           ///< of a scope's child: what it pushes in place of its parent's record
  os::context context;

  relaxed<std::uint64_t> thefts = 0;  ///< how often a thief had a record of its strand, or may have had some

  // For a layer on top of the library. A frame on this stack sets them, and sets them back before it ends.
  void* layer = nullptr;      ///< what the layer keeps for the code that runs on this stack
  bool keeps_worker = false;  ///< no fork or start of a fiber gives way: the strand may hold a lock of the thread
};

/// The begin of a worker.
struct worker_face {
  relaxed<os::exception_globals*> exceptions = nullptr;  ///< the thread's
};

// As for a deque: runtime/faces.cpp.
[[gnu::always_inline]] inline fiber_face& face_of(fiber& f) noexcept { return reinterpret_cast<fiber_face&>(f); }
[[gnu::always_inline]] inline worker_face& face_of(worker& m) noexcept { return reinterpret_cast<worker_face&>(m); }

/// The top of a fiber's stack, and its end.
[[gnu::always_inline]] inline std::byte* stack_top(fiber& f) noexcept { return reinterpret_cast<std::byte*>(&f); }
std::byte* stack_bottom(const fiber& f) noexcept;
inline std::size_t stack_size(const fiber& f) noexcept {
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&f) - stack_bottom(f));
}

/// The part of a scope that the runtime knows.
struct children {
  fiber*
      home;  ///< the strand that the scope belongs to; nullptr: they are tasks of a group, which are not counted here
  counting_join joined;

  /// 0 as long as forks and joins of the home strand have nothing to ask, nor to wait for.
  static constexpr unsigned long was_stolen = 1;  ///< a fork of the home strand since the last join
  static constexpr unsigned long is_watched = 2;  ///< forks were left out, or made in another way than the usual; stays
  static constexpr unsigned long has_stop = 4;    ///< a stop token; stays
  static constexpr unsigned long unwinds = 8;     ///< exceptions were in flight when the scope was made; stays
  unsigned long events() const noexcept { return events_.load(std::memory_order_relaxed); }

  // relaxed, for these and for events(): what happens before the join, in the home strand's eyes, is seen by it; the
  // counting join orders the rest.
  void note(unsigned long event) noexcept { events_.fetch_or(event, std::memory_order_relaxed); }
  void forget(unsigned long event) noexcept { events_.fetch_and(~event, std::memory_order_relaxed); }

 private:
  std::atomic<unsigned long> events_{0};
};

/// The tasks of a group, which any strand may start.
struct group_children : children {
  void (*task_ended)(group_children& of) noexcept;  ///< called on the task's stack; the group may be gone then
};

/// What a thief of a parent's continuation calls. Never returns.
[[gnu::aligned(16)]] outcome go_on_with_parent(continuation& self) noexcept;

/// How a fork ended, as its parent sees it.
enum class fork_end : std::uintptr_t { returned, threw, stolen };

/// Lies at the top of the child's stack; a derived class has the closure.
struct child {
  children& scope;
  /// How many of the scope's forks were stolen before this one; forked_elsewhere if the fork has no such place. No fork
  /// has a higher number.
  std::uint64_t number;
  union {
    join until_stolen;  ///< with steal_every_fork: where the child waits for its thief
  };
  // Only for a fork in a handler.
  void* handled;        ///< the exception that the parent handles
  os::stack_call body;  ///< what the child runs in a handler of its own for that exception

  static constexpr std::uint64_t forked_elsewhere = ~std::uint64_t{0} - 2;

  /// Called by the parent.
  [[gnu::always_inline]] explicit child(children& s) noexcept : scope(s) {}
  [[gnu::always_inline]] ~child() {}
  child(const child&) = delete;
  child& operator=(const child&) = delete;
};

// The parent.

/// Gives the fiber a stack for its next child, `below`; false when the system refuses memory.
[[gnu::cold]] bool prepare_below(worker& m, fiber& f) noexcept;

/// While it lives the fiber has no stack below it. Afterwards it has `below` again.
class below_put_aside {
 public:
  below_put_aside(fiber& f, fiber& below) noexcept : fiber_(f), below_(below) { face_of(f).below = nullptr; }
  ~below_put_aside();
  below_put_aside(const below_put_aside&) = delete;
  below_put_aside& operator=(const below_put_aside&) = delete;

 private:
  fiber& fiber_;
  fiber& below_;
};

#ifdef FORKJOIN_DEBUG
// Assert what state the fibers are in, and say what state they are in now.
void begin_child_in_debug(fiber& parent, fiber& below) noexcept;
void end_child_in_debug(fiber& parent, fiber& below) noexcept;
/// Tells Valgrind that this memory of a stack may be used on which no strand runs.
void usable_in_debug(void* at, std::size_t size) noexcept;
#endif

/// Runs body(&c) on the stack below `parent`, the running fiber, and says how it ended. c lies at the top of that
/// stack. The caller calls back_from_child next.
[[gnu::always_inline]] inline fork_end call_child(fiber& parent, fiber& below, child& c, os::stack_call body) noexcept {
#ifdef FORKJOIN_DEBUG
  begin_child_in_debug(parent, below);
#endif
  set_current_fiber(&below);
  return static_cast<fork_end>(os::call_on_stack(face_of(parent).context, face_of(below).context, body, &c));
}

/// Unless the end is `stolen`, the stack `below` stays where it is for the next child, with what the child left on it.
[[gnu::always_inline]] inline void back_from_child(fiber& parent, [[maybe_unused]] fiber& below,
                                                   [[maybe_unused]] fork_end end) noexcept {
  if constexpr (os::races_are_detected) os::happens_after(current_worker());  // perhaps another worker than before
  set_current_fiber(&parent);
#ifdef FORKJOIN_DEBUG
  if (end != fork_end::stolen) end_child_in_debug(parent, below);
#endif
}

/// Called when call_child has returned `stolen` to the scope's home strand.
[[gnu::cold]] void go_on_as_thief(children& scope) noexcept;

/// As call_child, for a strand other than the scope's home strand, or with exceptions in flight, which the child must
/// not see.
[[gnu::cold]] fork_end call_child_slow(child& c, os::stack_call body) noexcept;

/// Around what a strand other than the scope's home strand runs on its own stack in place of a child: the scope's join
/// waits for it.
[[gnu::cold]] void begin_on_own_stack(children& scope) noexcept;
[[gnu::cold]] void end_on_own_stack(children& scope) noexcept;

/// Whether the calling strand runs in the runtime that the scope's home strand runs in.
[[gnu::cold]] bool is_of_this_runtime(const children& scope) noexcept;

/// Waits until all children have arrived. Must run on the home strand; on another strand it ends the process.
[[gnu::cold]] void join_children_slow(children& scope) noexcept;

/// Waits for a thief to run a kept child. This strand cannot pop the child's record, because newer records lie above
/// it: this strand leaves all of them to thieves.
[[gnu::cold]] void leave_to_others_slow(join& of_child) noexcept;

// The child, on its own stack.

/// Called when the push of the parent's continuation found a request.
[[gnu::cold]] void start_child_slow(child& c) noexcept;

/// Called when the pop found that continuation not private. True if no thief has it. False: the parent's frame may be
/// gone at any time.
[[gnu::cold]] bool finish_child_slow(child& c) noexcept;

/// Ends a child whose parent's continuation was stolen, and gives its stack back. `body`: what it ran, by whose name a
/// trace calls it.
[[noreturn, gnu::cold]] void end_stolen_child(child& c, os::stack_call body) noexcept;

}}}  // namespace fj::v0_4::detail
