// What fork_join is made of: the record of a branch, and the life of a fork.
#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/fork.hpp"
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/fork_outside.hpp"
#include "forkjoin/detail/join_on_throw.hpp"
#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/detail/wait_for.hpp"
#include "forkjoin/policies.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// The record of a closure that may be stolen: it lies in the frame of fork_join.
template <class G, class Join>
class branch : public record_of<Join> {
 public:
  using continuation::joined;

  [[gnu::always_inline]] explicit branch(lvalue<G> g) noexcept : record_of<Join>(&run), closure(g) {}
  [[gnu::always_inline]] ~branch() {}  // the union: take or drop has destroyed what it held
  branch(const branch&) = delete;
  branch& operator=(const branch&) = delete;

  /// After a join that found it stolen: the result or the exception.
  value_of<result_of<G>> take() {
    if (joined.result() == outcome::threw) rethrow(error_);
    return value_.take();
  }

  /// After a join that found it stolen, where the result is not wanted.
  void drop() noexcept {
    if (joined.result() == outcome::threw) {
      std::destroy_at(&error_);
    } else {
      value_.drop();
    }
  }

  /// As if a thief had finished it with the exception in flight.
  void store_exception() noexcept {
    std::construct_at(&error_, caught_exception());
    joined.settle(outcome::threw);
  }

 private:
  // What a thief calls; aligned, because a join tells functions from waiters by bit 0.
  [[gnu::aligned(16)]] static outcome run(continuation& self) noexcept {
    auto& mine = static_cast<branch&>(self);
    if constexpr (is_traced<Join>) mine.begins_here();
    outcome end = outcome::returned;
    try {
      mine.value_.store(mine.closure);
    } catch (...) {
      std::construct_at(&mine.error_, caught_exception());
      end = outcome::threw;
    }
    if constexpr (is_timed<Join>) mine.ends_here();
    return end;
  }

 public:
  closure_argument<G> closure;

 private:
  union {
    late_result<result_of<G>> value_;
    std::exception_ptr error_;
  };
};

// Each cold path of a fork is one call, for two reasons. The compiler keeps nothing for it in registers across the call
// of the child, which leaves of the recursion would pay for. And functions that fork stay small enough to be inlined.

/// Called when push_record returned true: attends to the deque, then calls what runs here at once.
template <class Policy, class Here, class Record>
[[gnu::cold, gnu::noinline]] value_of<result_of<Here>> start_slow(cold_argument<Here> here,
                                                                  branch<Record, typename Policy::join>& other) {
  if (push_slow()) return detail::call(here);
  return detail::fork_outside<Policy, Here>(here, other);
}

/// Joins the continuation whose record was not private any longer when the child was done.
template <class G, class Join>
[[gnu::cold, gnu::noinline]] value_of<result_of<G>> join_continuation_slow(branch<G, Join>& rest) {
  if (detail::pop_slow(rest)) return detail::call(rest.closure);
  detail::wait_for<Join>(rest);
  return rest.take();
}

/// The life of a fork: runtime/README.md tells it.
template <class F, class G, class Join>
[[gnu::always_inline]] inline results_of<F, G> fork_two(policy<first_child_first, Join>, lvalue<F> f, lvalue<G> g) {
  using A = value_of<result_of<F>>;
  branch<G, Join> rest(g);
  join_on_throw<G, Join> on_throw{rest};
  // clang does not take the cold call for unlikely by itself, and would have the common way jump.
  A a = __builtin_expect(detail::push_record(rest), false)
            ? detail::start_slow<policy<first_child_first, Join>, F>(detail::copy_if_large<F>(f), rest)
            : detail::call(f);
  on_throw.armed = false;
  using B = value_of<result_of<G>>;
  B b = detail::pop_record(rest) ? detail::call(rest.closure) : detail::join_continuation_slow(os::rematerialize(rest));
  return {std::forward<A>(a), std::forward<B>(b)};
}

}}}  // namespace fj::v0_4::detail
