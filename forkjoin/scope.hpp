// Scopes: forks anywhere in a function. Thieves steal the function's true continuation.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/scope.hpp"
#else

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/on_top.hpp"
#include "forkjoin/abi/run.hpp"
#include "forkjoin/abi/scope.hpp"
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/closure_child.hpp"
#include "forkjoin/detail/kept_children.hpp"
#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/detail/scope_state.hpp"
#include "forkjoin/policies.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {
struct scope_access;  // with_scope's
}

/// Forks from anywhere: scope s; s.fork(f); ...; s.join();
///
/// fork(f) runs f immediately on another stack. Thieves (idle workers) may steal everything that the calling function
/// does after the fork: the true continuation, as in Cilk. So with one P the program runs in its serial order, and a
/// loop that forks n children keeps one record and one stack, for any n. Functions that take the scope by reference may
/// fork into it, also from its children.
///
/// Code after fork or join may run on another thread. A scope lives in a function that runs in a runtime, and is joined
/// by the strand that made it.
///
/// Exceptions: if the continuation was not stolen, fork throws what f throws. Otherwise the join throws it; of several
/// exceptions, the join throws that of the earliest fork by the scope's own strand, or else the one of other strands'
/// forks that came first. Once an exception waits for the join, children that have not started do not start. Because
/// either may throw a child's exception, a handler must enclose the join, and not the fork alone. with_scope throws the
/// exception of the serial program, if only the scope's strand forks into it.
///
/// The text above describes fj::scope, which is basic_scope<fj::continuations>. With a policy of fj::last_child_first,
/// fork(f) keeps f until the join, and the parent goes on. Thieves may steal f, and the join runs the children that are
/// left, the newest first. Each such fork takes memory of the scope until the join, and the join throws what f throws.
/// In some cases the scope cannot keep a child, and forks it as fj::scope does: from another strand, within a branch of
/// a fork_join that began after the scope, while an exception is handled or in flight, while the scope joins, or if
/// there is no memory. The policy's join says how the scope's join waits. With fj::leapfrog and fj::first_child_first,
/// the strand steals only from the P on which the child of its latest stolen fork runs.
template <detail::a_policy Policy>
class [[nodiscard("a scope joins when it is destroyed")]] basic_scope {
 public:
  /// Throws std::logic_error outside a runtime.
  [[gnu::always_inline]] basic_scope() : state_(current_strand_or_throw()) { look_at_exceptions(); }

  /// Once the token is asked to stop, fork starts no child any more. If a child was left out, the join throws
  /// fj::cancelled.
  explicit basic_scope(stop_token stop) : state_(current_strand_or_throw(), std::move(stop)) { look_at_exceptions(); }

  /// A scope within another. It has the outer scope's token, so both are asked to stop together; an exception of one of
  /// the outer scope's children does not stop it. It joins only its own children.
  explicit basic_scope(basic_scope& outer) : basic_scope(outer.state_.stop()) {}

  basic_scope(const basic_scope&) = delete;
  basic_scope& operator=(const basic_scope&) = delete;

  /// Joins, and throws what join would throw. If an exception already leaves the scope, the destructor throws nothing.
  [[gnu::always_inline]] ~basic_scope() noexcept(false) {
    if (has_events()) [[unlikely]]
      detail::os::rematerialize(*this).end_slow();
  }

  /// Runs f() immediately; thieves may steal what follows this call. fork moves or copies f to f's stack first, and
  /// drops f's result. If there is no other stack, or if f takes more than half of one, fork calls f on the caller's
  /// stack.
  ///
  /// Cost if nothing is stolen: a call with two switches of stacks, which save the callee-saved registers; no
  /// allocation, no fence. A fork by a strand that did not make the scope takes two more atomic operations.
  ///
  /// Errors: what f throws, if nothing was stolen; else the join throws it. std::logic_error outside a runtime, also
  /// in fj::blocking.
  template <class F>
  [[gnu::always_inline]] void fork(F&& f) {
    static_assert(std::is_invocable_v<std::decay_t<F>&>,
                  "fj::scope::fork: the argument must be callable without arguments");
    if (has_events()) [[unlikely]] {
      if (stopped()) return detail::os::rematerialize(*this).leave_out();
    }
    detail::fiber& here = *detail::current_fiber();
    if (&here != state_.home) [[unlikely]]
      return detail::os::rematerialize(*this).template fork_slow<F>(f);
    if constexpr (keeps)
      if (kept_.template keep<F>(*detail::current_worker(), f)) return;
    if (detail::face_of(*detail::current_worker()).exceptions->any()) [[unlikely]]
      return detail::os::rematerialize(*this).template fork_slow<F>(f);
    detail::fiber* const below = detail::face_of(here).below;
    if (!below) [[unlikely]]
      return detail::os::rematerialize(*this).template fork_slow<F>(f);
    fork_onto<F>(here, *below, f);
  }

  /// Whether fork starts no child any more, because a child's exception waits for the join or the token was asked to
  /// stop. The scope's strand and its children may call stopped: for example a loop that forks, or a long child.
  [[nodiscard, gnu::always_inline]] bool stopped() const noexcept {
    return state_.errors.any() || state_.stop_requested();
  }

  /// Waits for all children; meanwhile the worker does other work. May be called several times, also between forks.
  /// Throws the exception of the earliest fork of those that left one for the join; fj::cancelled if a fork was left
  /// out; std::logic_error if a strand calls it that did not make the scope, or a child of the scope.
  [[gnu::always_inline]] void join() {
    if (detail::current_fiber() != state_.home || kept_.joins()) [[unlikely]]
      detail::joined_elsewhere();  // also by a kept child, which may run on the strand that made the scope
    if (has_events()) [[unlikely]]
      detail::os::rematerialize(*this).join_slow(false);
  }

  // oneTBB's names. Compilers show these lines.
  template <class F>
  void run(F&& f) = delete;  // write s.fork(f)
  void wait() = delete;      // write s.join()

 private:
  friend struct detail::scope_access;

  using join_policy = typename Policy::join;
  static constexpr bool keeps = !detail::runs_first_child<Policy>;
  static constexpr bool leaps = detail::is_traced<join_policy>;

  struct latest_child {
    unsigned proc = detail::traced_continuation::no_proc;  ///< where the child of the latest stolen fork began
  };
  struct nothing {};

  [[gnu::always_inline]] static detail::fiber* current_strand_or_throw() {
    detail::fiber* const strand = detail::current_fiber();
    if (!strand) [[unlikely]]
      detail::scope_outside();
    return strand;
  }

  [[gnu::always_inline]] void look_at_exceptions() noexcept {
    const unsigned uncaught = detail::face_of(*detail::current_worker()).exceptions->uncaught;
    if (uncaught == 0) [[likely]]
      return;
    uncaught_ = uncaught;
    state_.note(detail::children::unwinds);
  }

  // Whether a fork or a join may have more to do than usual. Kept children leave what they throw without an event.
  [[gnu::always_inline]] bool has_events() const noexcept {
    if constexpr (keeps) {
      return state_.events() != 0 || !kept_.empty() || state_.errors.any();
    } else {
      return state_.events() != 0;
    }
  }

  // The place of a fork in the order of exceptions, of forks by the scope's own strand.
  [[gnu::always_inline]] std::uint64_t number_of_fork() noexcept {
    if constexpr (keeps) {
      return kept_.next_number();
    } else {
      return state_.joined.stolen_count();
    }
  }

  // A small trivial closure is passed by value: it need not be in memory before it is put on the child's stack.
  template <class F>
  [[gnu::always_inline]] void fork_onto(detail::fiber& here, detail::fiber& below, detail::closure_argument<F> f) {
    using child_type = detail::closure_child<std::decay_t<F>>;
    if (!detail::fits<child_type>(below)) [[unlikely]]
      return call_on_own_stack<F>(f);
    child_type& c = detail::construct_child<child_type, F>(state_, here, below, f);
    c.number = number_of_fork();
    [[maybe_unused]] const unsigned proc = leaps ? static_cast<unsigned>(detail::current_proc()) : 0;
    const detail::fork_end end = detail::call_child(here, below, c, &child_type::run);
    detail::back_from_child(*state_.home, below, end);  // read again, which is less than to keep it
    if (end == detail::fork_end::returned) [[likely]]
      return;
    if (end == detail::fork_end::threw) rethrow<child_type>();
    if constexpr (leaps) latest_.proc = proc;
    detail::go_on_as_thief(detail::os::rematerialize(state_));
  }

  // For the first child of a strand, for forks by a strand that did not make the scope, and while exceptions are in
  // flight.
  template <class F>
  [[gnu::cold, gnu::noinline]] void fork_slow(detail::closure_argument<F> f) {
    using child_type = detail::closure_child<std::decay_t<F>>;
    if (!detail::current_fiber() || !detail::is_of_this_runtime(state_)) detail::forked_in_other_runtime();
    detail::fiber& here = *detail::current_fiber();
    const bool has_stack = detail::face_of(here).below || detail::prepare_below(*detail::current_worker(), here);
    if (!has_stack || !detail::fits<child_type>(*detail::face_of(here).below))
      return &here == state_.home ? call_on_own_stack<F>(f) : call_counted<F>(f);
    detail::fiber& below = *detail::face_of(here).below;
    child_type& c = detail::construct_child<child_type, F>(state_, here, below, f);
    c.number = &here == state_.home ? number_of_fork() : detail::child::forked_elsewhere;
    const detail::fork_end end = detail::call_child_slow(c, &child_type::run);
    if (end == detail::fork_end::threw) rethrow<child_type>();
  }

  template <class F>
  [[gnu::cold, gnu::noinline]] static void call_on_own_stack(detail::closure_argument<F> f) {
    std::decay_t<F> closure(static_cast<F&&>(f));
    static_cast<void>(closure());
  }

  // The same by a strand that did not make the scope: the join, which may begin meanwhile, waits for it.
  template <class F>
  [[gnu::cold, gnu::noinline]] void call_counted(detail::closure_argument<F> f) {
    const struct counted {
      explicit counted(detail::children& scope) noexcept : of(scope) { detail::begin_on_own_stack(of); }
      ~counted() { detail::end_on_own_stack(of); }
      counted(const counted&) = delete;
      counted& operator=(const counted&) = delete;
      detail::children& of;
    } until_done(state_);
    call_on_own_stack<F>(f);
  }

  // Throws what an unstolen child threw, which still lies on its stack.
  template <class Child>
  [[noreturn, gnu::cold, gnu::noinline]] static void rethrow() {
    detail::fiber& below = *detail::face_of(*detail::current_fiber()).below;
    auto& c = *static_cast<Child*>(Child::place_on(below));
    const std::exception_ptr thrown = std::move(c.error);
    std::destroy_at(&c.error);
    // For the race detector: the next user of the stack comes after that.
    if constexpr (detail::os::races_are_detected) detail::os::happens_before(detail::stack_bottom(below));
    std::rethrow_exception(thrown);
  }

  [[gnu::cold, gnu::noinline]] void leave_out() noexcept {
    state_.note(detail::children::is_watched);
    state_.errors.leave_out();
  }

  // The stop token ends after the join, which may throw.
  [[gnu::cold, gnu::noinline]] void end_slow() {
    const struct dropper {
      ~dropper() { of.drop_stop(); }
      detail::scope_state& of;
    } after_join{state_};
    join_slow(true);
  }

  [[gnu::cold, gnu::noinline]] void join_slow(bool in_destructor) {
    if (state_.nothing_to_join() && kept_.empty()) return;
    join_children();
    if (!state_.errors.any()) return;
    const std::exception_ptr error = state_.errors.take();
    const unsigned before = state_.events() & detail::children::unwinds ? uncaught_ : 0;
    if (in_destructor && static_cast<unsigned>(std::uncaught_exceptions()) != before) return;
    std::rethrow_exception(error);
  }

  void join_children() noexcept {
    if constexpr (keeps) kept_.join();
    if constexpr (leaps) {
      detail::joins<join_policy>::wait(state_, latest_.proc);
    } else {
      detail::joins<join_policy>::wait(state_, detail::traced_continuation::no_proc);
    }
    state_.forget(detail::children::was_stolen);
  }

  // Called when the scope's body has thrown. That was after all forks so far, so what a child has thrown comes first.
  [[gnu::cold]] void join_after_throw() {
    join_children();
    if (!state_.errors.any()) return;
    const bool thrown = state_.errors.thrown();
    const std::exception_ptr error = state_.errors.take();
    if (thrown) std::rethrow_exception(error);
  }

  detail::scope_state state_;
  unsigned uncaught_;  // exceptions in flight when the scope was made, if `unwinds`
  [[no_unique_address]] std::conditional_t<keeps, detail::kept_children<join_policy>, detail::keeps_none> kept_{state_};
  [[no_unique_address]] std::conditional_t<leaps, latest_child, nothing> latest_;
};

/// The scope of the default policy.
using scope = basic_scope<continuations>;

}}  // namespace fj::v0_4

#endif
