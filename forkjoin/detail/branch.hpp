// What fork_join is made of: the record of a branch, and the life of a fork.
#pragma once

#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/call_in.hpp"
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/entry.hpp"
#include "forkjoin/detail/function_ref.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/policies.hpp"

namespace fj::inline v0_1 {

namespace detail {

/// Throws what is stored, and destroys the pointer to it.
[[noreturn, gnu::cold, gnu::noinline]] inline void rethrow(std::exception_ptr& stored) {
  const std::exception_ptr thrown = std::move(stored);
  std::destroy_at(&stored);
  std::rethrow_exception(thrown);
}

/// What waits at a join of that kind.
template <class Join>
using record_of = std::conditional_t<std::is_same_v<Join, leapfrog>, traced_continuation, continuation>;

/// Waits for a stolen record as the policy's join says.
template <class Join>
void wait_for(record_of<Join>& stolen) noexcept {
  if constexpr (std::is_same_v<Join, leave_stack>) {
    detail::join_slow(stolen.joined);
  } else if constexpr (std::is_same_v<Join, run_on_top>) {
    detail::join_on_top_slow(stolen.joined);
  } else {
    detail::leapfrog_slow(stolen);
  }
}

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
    std::construct_at(&error_, std::current_exception());
    joined.settle(outcome::threw);
  }

 private:
  // What a thief calls; aligned, because a join tells functions from waiters by bit 0.
  [[gnu::aligned(16)]] static outcome run(continuation& self) noexcept {
    auto& mine = static_cast<branch&>(self);
    if constexpr (std::is_same_v<Join, leapfrog>) mine.begins_here();
    try {
      mine.value_.store(mine.closure);
      return outcome::returned;
    } catch (...) {
      std::construct_at(&mine.error_, std::current_exception());
      return outcome::threw;
    }
  }

 public:
  closure_argument<G> closure;

 private:
  union {
    late_result<result_of<G>> value_;
    std::exception_ptr error_;
  };
};

template <class F, class G>
using results_of = std::tuple<value_of<result_of<F>>, value_of<result_of<G>>>;

template <class F, class G, class Join>
results_of<F, G> fork_two(policy<first_child_first, Join>, lvalue<F> f, lvalue<G> g);
template <class F, class G, class Join>
results_of<F, G> fork_two(policy<last_child_first, Join>, lvalue<F> f, lvalue<G> g);

// Each cold path of a fork is one call, for two reasons. The compiler keeps nothing for it in registers across the call of the
// child, which leaves of the recursion would pay for. And functions that fork stay small enough to be inlined.

/// Does with a record what a thief would.
struct run_record {
  continuation& record;
  void operator()() const noexcept { record.joined.settle(record.joined.body()(record)); }
};

/// Does a fork from outside of any runtime in the default one. Types are erased, so that not every fork is compiled twice.
template <class Policy>
[[gnu::cold, gnu::noinline]] void fork_in_default_runtime(function_ref<void()> here, run_record other) {
  const auto fork = [&] {
    if constexpr (runs_first_child<Policy>) {
      fork_two<function_ref<void()>&, run_record&>(Policy(), here, other);
    } else {
      fork_two<run_record&, function_ref<void()>&>(Policy(), other, here);
    }
  };
  detail::call_in(default_scheduler(), fork);
}

/// Called when push_record returned true: attends to the deque, then calls what runs here at once. Outside of any runtime
/// both branches run in the default one instead, which leaves the record as if a thief had finished it.
template <class Policy, class Here, class Record>
[[gnu::cold, gnu::noinline]] value_of<result_of<Here>> start_slow(closure_argument<Here> here,
                                                                  branch<Record, typename Policy::join>& other) {
  if (push_slow()) return detail::call(here);
  late_result<result_of<Here>> result;
  try {
    fork_in_default_runtime<Policy>([&] { result.store(here); }, {other});
  } catch (...) {
    if (!other.joined.finished()) other.store_exception();
    throw;
  }
  return result.take();
}

/// Joins the continuation whose record was not private any longer when the child was done.
template <class G, class Join>
[[gnu::cold, gnu::noinline]] value_of<result_of<G>> join_continuation_slow(branch<G, Join>& rest) {
  if (detail::pop_slow(rest)) return detail::call(rest.closure);
  detail::wait_for<Join>(rest);
  return rest.take();
}

/// Joins the continuation of a child that threw: a result or exception of its own is dropped.
template <class G, class Join>
[[gnu::cold, gnu::noinline]] void join_continuation_after_throw(branch<G, Join>& rest) noexcept {
  if (detail::pop_record(rest) || detail::pop_slow(rest)) return;
  detail::wait_for<Join>(rest);
  rest.drop();
}

/// Joins the continuation when the child throws. A destructor, because a handler takes twice the code.
template <class G, class Join>
struct join_on_throw {
  branch<G, Join>& rest;
  bool armed = true;

  [[gnu::always_inline]] ~join_on_throw() {
    if (armed) detail::join_continuation_after_throw(rest);
  }
};

/// The life of a fork: runtime/README.md tells it.
template <class F, class G, class Join>
[[gnu::always_inline]] inline results_of<F, G> fork_two(policy<first_child_first, Join>, lvalue<F> f, lvalue<G> g) {
  using A = value_of<result_of<F>>;
  branch<G, Join> rest(g);
  join_on_throw<G, Join> on_throw{rest};
  // clang does not take the cold call for unlikely by itself, and would have the common way jump.
  A a = __builtin_expect(detail::push_record(rest), false)
            ? detail::start_slow<policy<first_child_first, Join>, F>(f, rest)
            : detail::call(f);
  on_throw.armed = false;
  using B = value_of<result_of<G>>;
  B b = detail::pop_record(rest) ? detail::call(rest.closure) : detail::join_continuation_slow(rest);
  return {std::forward<A>(a), std::forward<B>(b)};
}

}  // namespace detail

}  // namespace fj::inline v0_1
