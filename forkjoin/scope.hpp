// Scopes: forks anywhere in a function, whose true continuation is stolen.
#pragma once

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/scope.hpp"
#else

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/entry.hpp"
#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/stop.hpp"

namespace fj::inline v0_1 {

class scope;

namespace detail {

/// What a scope's join has to throw: the exception of the earliest fork among those that children stored here, or else
/// fj::cancelled if forks were left out.
class first_exception {
 public:
  first_exception() noexcept {}
  ~first_exception() {}  // the union: the join has taken what it held
  first_exception(const first_exception&) = delete;
  first_exception& operator=(const first_exception&) = delete;

  /// Whether there is anything. relaxed: forks only use it to start no more; at a join the children's arrival orders it.
  bool any() const noexcept { return precedence_.load(std::memory_order_relaxed) != none; }

  /// 0 if there is nothing.
  std::uint64_t precedence() const noexcept { return precedence_.load(std::memory_order_relaxed); }

  /// Whether there is an exception.
  bool thrown() const noexcept { return precedence_.load(std::memory_order_relaxed) > left_out; }

  /// Called by a child that threw, with the number of its fork.
  [[gnu::cold]] void offer(std::uint64_t number, std::exception_ptr error) noexcept {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t precedence = ~number;
    if (precedence <= precedence_.load(std::memory_order_relaxed)) return;
    if (thrown()) {
      std::swap(error_, error);
    } else {
      std::construct_at(&error_, std::move(error));
    }
    precedence_.store(precedence, std::memory_order_relaxed);
  }

  /// Called by a fork that does not start.
  [[gnu::cold]] void leave_out() noexcept {
    const std::scoped_lock lock(mutex_);
    if (!any()) precedence_.store(left_out, std::memory_order_relaxed);
  }

  /// Called after the join, if there is anything. Leaves nothing.
  [[gnu::cold]] std::exception_ptr take() noexcept {
    const std::scoped_lock lock(mutex_);  // children of other strands may not have been joined
    if (precedence_.exchange(none, std::memory_order_relaxed) == left_out) return std::make_exception_ptr(cancelled());
    const std::exception_ptr error = std::move(error_);
    std::destroy_at(&error_);
    return error;
  }

 private:
  // The complement of the fork's number: the first fork's is the greatest, and none is 0.
  static constexpr std::uint64_t none = 0;
  static constexpr std::uint64_t left_out = 1;
  static_assert(~child::forked_elsewhere > left_out);

  std::atomic<std::uint64_t> precedence_{none};
  os::mutex mutex_;
  union {
    std::exception_ptr error_;  // if thrown()
  };
};

/// What a scope's children know of it.
struct scope_state : children {
  explicit scope_state(fiber* strand) noexcept { home = strand; }

  /// Whether a join has something to do.
  [[gnu::always_inline]] bool nothing_to_join() const noexcept { return (joined.touched() | errors.precedence()) == 0; }

  first_exception errors;
};

/// A child with the closure it runs, at the top of its own stack.
template <class Closure>
struct closure_child : child {
  template <class F>
  [[gnu::always_inline]] closure_child(children& s, F&& f) : child(s), closure(std::forward<F>(f)) {}
  [[gnu::always_inline]] ~closure_child() {}

  union {
    Closure closure;
    std::exception_ptr error;  ///< what the closure threw, when that is gone
  };

  // Runs on the child's stack. When it returns, it leaves there nothing, or `error`.
  static std::uintptr_t run(void* self) noexcept {
    auto& mine = *static_cast<closure_child*>(self);
    if (detail::push_record(mine)) [[unlikely]]
      detail::start_child_slow(mine);
    if (!mine.call()) [[unlikely]]
      return mine.finish_after_throw();
    if (!detail::pop_record(mine)) [[unlikely]]
      if (!detail::finish_child_slow(mine)) detail::end_stolen_child(mine);
    return static_cast<std::uintptr_t>(fork_end::returned);
  }

 private:
  [[gnu::always_inline]] bool call() noexcept {
    try {
      const destroyer destroy_after_call{closure};
      static_cast<void>(closure());
      return true;
    } catch (...) {
      std::construct_at(&error, std::current_exception());
      return false;
    }
  }

  [[gnu::cold, gnu::noinline]] std::uintptr_t finish_after_throw() noexcept {
    if (detail::pop_record(*this) || detail::finish_child_slow(*this))
      return static_cast<std::uintptr_t>(fork_end::threw);
    static_cast<scope_state&>(scope).errors.offer(number, std::move(error));
    std::destroy_at(&error);
    detail::end_stolen_child(*this);
  }

  struct destroyer {
    Closure& of;
    [[gnu::always_inline]] ~destroyer() { std::destroy_at(std::addressof(of)); }
  };
};

}  // namespace detail

/// Forks from anywhere: scope s; s.fork(f); ...; s.join();
///
/// fork(f) runs f at once on a stack of its own. Idle workers may steal everything that the calling function does after it:
/// the true continuation, as in Cilk. So with one P the program runs in its serial order, and a loop that forks n children
/// keeps one record and one stack, however large n is. Functions that take the scope by reference may fork into it, also
/// from its children.
///
/// Code after fork or join may run on another thread. A scope lives in a function that runs in a runtime, and is joined
/// by the strand that made it.
///
/// Exceptions: what f throws leaves fork if its continuation was not stolen. Otherwise the join throws it, the earliest
/// fork's if there are several. Once an exception waits for the join, children that have not started do not start. As a
/// child's exception may leave either, handle it around the join, not around fork. with_scope promises the exception of
/// the serial program.
class [[nodiscard("a scope joins when it is destroyed")]] scope {
 public:
  /// Throws std::logic_error outside of a runtime.
  scope() : scope(current_worker_or_throw()) {}

  /// Once the token asks to stop, fork starts nothing any more, and the join throws fj::cancelled if it left out anything.
  explicit scope(stop_token stop) : scope(current_worker_or_throw(), std::move(stop)) {}

  /// A scope within another: it stops when the outer one is asked to, and joins its own children.
  explicit scope(scope& outer) : scope(outer.stop_) {}

  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  /// Joins. Throws what join would. If an exception leaves the scope, that one wins.
  [[gnu::always_inline]] ~scope() noexcept(false) {
    if (!state_.nothing_to_join()) [[unlikely]]
      join_slow(true);
  }

  /// Runs f() at once; idle workers may steal what follows this call. fork first moves or copies f to where it runs, and
  /// drops its result. It calls f on the caller's stack if it gets no other, or if f takes more than half of one.
  ///
  /// Cost where nothing is stolen: a call with two switches of stacks, which save the callee-saved registers; no
  /// allocation, no fence. From another strand than the scope's own, two atomic operations more.
  template <class F>
  [[gnu::always_inline]] void fork(F&& f) {
    static_assert(std::is_invocable_v<std::decay_t<F>&>,
                  "fj::scope::fork: the argument must be callable without arguments");
    if (stopped()) [[unlikely]]
      return leave_out();
    detail::worker* const worker = detail::current_worker();
    if (!worker) [[unlikely]]
      detail::forked_in_other_runtime();
    detail::worker& m = *worker;
    detail::fiber& here = *state_.home;
    if (m.running != &here || m.exceptions->any()) [[unlikely]]
      return fork_slow<F>(m, f);
    detail::fiber* const below = here.below;
    if (!below) [[unlikely]]
      return fork_slow<F>(m, f);
    fork_onto<F>(m, here, *below, f);
  }

  /// Whether fork starts nothing any more, because a child's exception waits for the join or the token was asked to stop.
  /// Any strand below the scope may call it: a loop that forks, or a long child.
  [[nodiscard, gnu::always_inline]] bool stopped() const noexcept {
    return state_.errors.any() || stop_.stop_requested();
  }

  /// Waits for all children; meanwhile the worker does other work. May be called several times, also between forks.
  /// Throws the exception of the first fork that left one here, fj::cancelled if a fork was left out; std::logic_error if
  /// it is called by another strand than the scope's own.
  [[gnu::always_inline]] void join() {
    detail::worker* const worker = detail::current_worker();
    if (!worker || worker->running != state_.home) [[unlikely]]
      detail::joined_elsewhere();
    if (!state_.nothing_to_join()) [[unlikely]]
      join_slow(false);
  }

 private:
  template <class Body>
  friend std::invoke_result_t<Body&, scope&> with_scope(stop_token stop, Body&& body);

  [[gnu::always_inline]] static detail::worker& current_worker_or_throw() {
    detail::worker* const m = detail::current_worker();
    if (!m) [[unlikely]]
      detail::scope_outside();
    return *m;
  }

  [[gnu::always_inline]] explicit scope(detail::worker& m, stop_token stop = {})
      : state_(m.running), uncaught_(m.exceptions->uncaught), stop_(std::move(stop)) {}

  // A small trivial closure is passed by value: it need not be in memory before it is put on the child's stack.
  template <class F>
  [[gnu::always_inline]] void fork_onto(detail::worker& m, detail::fiber& here, detail::fiber& below,
                                        detail::closure_argument<F> f) {
    using child_type = detail::closure_child<std::decay_t<F>>;
    if (!fits<child_type>(below)) [[unlikely]]
      return call_on_own_stack<F>(f);
    child_type& c = construct_child<child_type, F>(here, below, f);
    c.number = state_.joined.stolen_count();
    const detail::fork_end end = detail::call_child(worker_after_move<F>(m), here, below, c, &child_type::run);
    if (end == detail::fork_end::returned) [[likely]]
      return;
    if (end == detail::fork_end::threw) rethrow<child_type>();
    detail::go_on_as_thief(state_);
  }

  // For the first child of a strand, for forks of another strand than the scope's own, and while exceptions are in flight.
  template <class F>
  [[gnu::cold, gnu::noinline]] void fork_slow(detail::worker& m, detail::closure_argument<F> f) {
    using child_type = detail::closure_child<std::decay_t<F>>;
    if (!detail::is_of_this_runtime(state_)) detail::forked_in_other_runtime();
    detail::fiber& here = *m.running;
    if (!here.below && !detail::prepare_below(m, here)) return call_on_own_stack<F>(f);
    detail::fiber& below = *here.below;
    if (!fits<child_type>(below)) return call_on_own_stack<F>(f);
    child_type& c = construct_child<child_type, F>(here, below, f);
    c.number = &here == state_.home ? state_.joined.stolen_count() : detail::child::forked_elsewhere;
    const detail::fork_end end = detail::call_child_slow(worker_after_move<F>(m), c, &child_type::run);
    if (end == detail::fork_end::threw) rethrow<child_type>();
  }

  template <class Child>
  [[gnu::always_inline]] static bool fits(const detail::fiber& stack) noexcept {
    if constexpr (sizeof(Child) <= 4096) {
      return true;  // the smallest stack has four times as much
    } else {
      return sizeof(Child) <= stack.stack_size() / 2;
    }
  }

  // At the top of the stack.
  template <class Child>
  [[gnu::always_inline]] static void* child_address(detail::fiber& below) noexcept {
    constexpr std::size_t alignment = alignof(Child) > 16 ? alignof(Child) : 16;
    constexpr std::size_t room = (sizeof(Child) + alignment - 1) / alignment * alignment;
    std::byte* const at = below.stack_top() - room;
    if constexpr (alignment <= detail::cache_line) return at;  // so is the top
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) / alignment * alignment);
  }

  // If moving the closure there throws, all is as it was. The move may fork, too; meanwhile the stack is put aside.
  template <class Child, class F>
  [[gnu::always_inline]] Child& construct_child(detail::fiber& here, detail::fiber& below, detail::lvalue<F> f) {
    void* const room = child_address<Child>(below);
    detail::os::usable(room, sizeof(Child));
    if constexpr (std::is_trivially_constructible_v<std::decay_t<F>, F>) {
      return *::new (room) Child(state_, static_cast<F&&>(f));
    } else {
      const detail::below_put_aside until_placed(here, below);
      return *::new (room) Child(state_, static_cast<F&&>(f));
    }
  }

  // Moving a closure may call code of the user's, which may fork and go on on another worker.
  template <class F>
  [[gnu::always_inline]] static detail::worker& worker_after_move(detail::worker& before) noexcept {
    if constexpr (std::is_trivially_constructible_v<std::decay_t<F>, F>) {
      return before;
    } else {
      return *detail::current_worker();
    }
  }

  template <class F>
  [[gnu::cold, gnu::noinline]] static void call_on_own_stack(detail::closure_argument<F> f) {
    std::decay_t<F> closure(static_cast<F&&>(f));
    static_cast<void>(closure());
  }

  // Throws what an unstolen child threw, which still lies on its stack.
  template <class Child>
  [[noreturn, gnu::cold, gnu::noinline]] static void rethrow() {
    detail::fiber& below = *detail::current_worker()->running->below;
    auto& c = *static_cast<Child*>(child_address<Child>(below));
    const std::exception_ptr thrown = std::move(c.error);
    std::destroy_at(&c.error);
    detail::os::happens_before(
        below.stack_bottom());  // for the race detector: the next user of the stack comes after that
    std::rethrow_exception(thrown);
  }

  [[gnu::cold, gnu::noinline]] void leave_out() noexcept { state_.errors.leave_out(); }

  [[gnu::cold, gnu::noinline]] void join_slow(bool in_destructor) {
    detail::join_children_slow(state_);
    if (!state_.errors.any()) return;
    const std::exception_ptr error = state_.errors.take();
    if (in_destructor && static_cast<unsigned>(std::uncaught_exceptions()) != uncaught_) return;
    std::rethrow_exception(error);
  }

  // Called when the scope's body has thrown. That was after all forks so far, so what a child has thrown comes first.
  [[gnu::cold]] void join_after_throw() {
    detail::join_children_slow(state_);
    if (!state_.errors.any()) return;
    const bool thrown = state_.errors.thrown();
    const std::exception_ptr error = state_.errors.take();
    if (thrown) std::rethrow_exception(error);
  }

  detail::scope_state state_;
  const unsigned uncaught_;  // exceptions in flight when the scope was made
  stop_token stop_;
};

}  // namespace fj::inline v0_1

#endif
