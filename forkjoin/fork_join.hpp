// The fork: run closures in parallel, join, return their results.
#pragma once

#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "forkjoin/result.hpp"
#include "forkjoin/run.hpp"
#include "runtime/entry.hpp"

namespace fj {

/// Policies for fork_join: what is put up to be stolen.
struct continuations {};  ///< the rest of the caller, while the child runs
struct tasks {};          ///< the child, while the caller goes on

namespace detail {

/// How a closure is handed on: a small trivial one by value, which saves a pointer to it and leaves the compiler free to
/// keep it in registers; others by reference to where the caller has them.
template <class G>
using held = std::conditional_t<std::is_trivially_copyable_v<G> && sizeof(G) <= 64 && !std::is_const_v<G>, G, G&>;

/// The record of a closure that may be stolen: it lies in the frame of fork_join.
template <class G>
class branch : public continuation {
 public:
  [[gnu::always_inline]] explicit branch(G& g) noexcept : continuation(&run), closure(g) {}
  ~branch() {}  // the union: whoever knows how it ended has taken what there was
  branch(const branch&) = delete;
  branch& operator=(const branch&) = delete;

  /// After a join that found it stolen: the result or the exception.
  [[gnu::cold, gnu::noinline]] value_of<result_of<G>> take() {
    if (joined.result() == outcome::threw) {
      const std::exception_ptr thrown = std::move(error_);
      std::destroy_at(&error_);
      std::rethrow_exception(thrown);
    }
    return value_.take();
  }

  /// As take, when nobody is interested.
  [[gnu::cold, gnu::noinline]] void drop() noexcept {
    if (joined.result() == outcome::threw) {
      std::destroy_at(&error_);
    } else {
      value_.drop();
    }
  }

 private:
  // What a thief calls; aligned, because a join tells functions from waiters by bit 0.
  [[gnu::aligned(16)]] static outcome run(continuation& self) noexcept {
    auto& mine = static_cast<branch&>(self);
    try {
      mine.value_.store(mine.closure);
      return outcome::returned;
    } catch (...) {
      std::construct_at(&mine.error_, std::current_exception());
      return outcome::threw;
    }
  }

 public:
  held<G> closure;

 private:
  union {
    late_result<result_of<G>> value_;
    std::exception_ptr error_;
  };
};

/// Takes the newest record off the deque; false if it has been stolen.
[[gnu::always_inline]] inline bool take_back() noexcept { return current_deque().pop() || pop_slow(); }

template <class F, class G>
using both = std::tuple<value_of<result_of<F>>, value_of<result_of<G>>>;

template <class F, class G>
both<F, G> fork_two(continuations, F& f, G& g);
template <class F, class G>
both<F, G> fork_two(tasks, F& f, G& g);

/// When there is no deque to push to, or no room in it.
template <class Policy, class F, class G>
[[gnu::cold, gnu::noinline]] both<F, G> fork_elsewhere(pushed why, held<F> f, held<G> g) {
  if (why == pushed::outside) return fj::run([&] { return fork_two(Policy(), f, g); });
  value_of<result_of<F>> a = call(f);
  return {std::forward<value_of<result_of<F>>>(a), call(g)};
}

// The cold ends of a fork are one call each: what they need is not kept in registers across the call of the child, which
// leaves of the recursion would pay for, too.

/// The rest of a fork that was not private any longer when the child was done.
template <class G>
[[gnu::cold, gnu::noinline]] value_of<result_of<G>> finish_rest(branch<G>& rest) {
  if (pop_slow()) return call(rest.closure);
  join_slow(rest.joined);
  return rest.take();
}

/// The rest of a fork whose child threw: nobody will ask for its result.
template <class G>
[[gnu::cold, gnu::noinline]] void abandon_rest(branch<G>& rest) noexcept {
  if (current_deque().pop() || pop_slow()) return;
  join_slow(rest.joined);
  rest.drop();
}

/// A task that was not private any longer when its caller came to the join.
template <class F>
[[gnu::cold, gnu::noinline]] value_of<result_of<F>> finish_task(branch<F>& child) {
  if (pop_slow()) return call(child.closure);
  join_tasks_slow(child.joined);
  return child.take();
}

/// A task whose caller threw. If it throws as well, that comes first, as in the serial program.
template <class F>
[[gnu::cold, gnu::noinline]] void complete_task(branch<F>& child) {
  static_cast<void>(current_deque().pop() ? call(child.closure) : finish_task(child));
}

/// The life of a fork: runtime/README.md tells it.
template <class F, class G>
[[gnu::always_inline]] inline both<F, G> fork_two(continuations, F& f, G& g) {
  using A = value_of<result_of<F>>;
  branch<G> rest(g);
  if (current_deque().push(&rest)) [[unlikely]]
    if (const pushed how = push_slow(); how != pushed::yes)
      return fork_elsewhere<continuations, F, G>(how, f, rest.closure);
  A a = [&]() -> A {
    if constexpr (std::is_nothrow_invocable_v<F&>) {
      return call(f);
    } else {
      try {
        return call(f);
      } catch (...) {
        abandon_rest(rest);
        throw;
      }
    }
  }();
  if (!current_deque().pop()) [[unlikely]]
    return {std::forward<A>(a), finish_rest(rest)};
  return {std::forward<A>(a), call(rest.closure)};
}

template <class F, class G>
[[gnu::always_inline]] inline both<F, G> fork_two(tasks, F& f, G& g) {
  using B = value_of<result_of<G>>;
  branch<F> child(f);
  if (current_deque().push(&child)) [[unlikely]]
    if (const pushed how = push_slow(); how != pushed::yes) return fork_elsewhere<tasks, F, G>(how, child.closure, g);
  B b = [&]() -> B {
    if constexpr (std::is_nothrow_invocable_v<G&>) {
      return call(g);
    } else {
      try {
        return call(g);
      } catch (...) {
        complete_task(child);
        throw;
      }
    }
  }();
  if (!current_deque().pop()) [[unlikely]]
    return {finish_task(child), std::forward<B>(b)};
  return {call(child.closure), std::forward<B>(b)};
}

template <class Policy, class F, class G>
[[gnu::always_inline]] inline auto fork_all(F& f, G& g) {
  return fork_two(Policy(), f, g);
}

/// More than two: what follows the first is a closure that forks the others.
template <class Policy, class F, class G, class... More>
[[gnu::always_inline]] inline auto fork_all(F& f, G& g, More&... more) {
  auto others = [&] { return fork_all<Policy>(g, more...); };
  auto [first, rest] = fork_two(Policy(), f, others);
  return std::tuple_cat(std::tuple<value_of<result_of<F>>>(std::forward<value_of<result_of<F>>>(first)),
                        std::move(rest));
}

}  // namespace detail

/// Runs all closures, possibly in parallel, waits for all, and returns a std::tuple of their results: references as they
/// are, std::monostate for void; void if all are. Any function may call it, at any depth; outside of a runtime it enters
/// the default one.
///
/// With continuations (the default) the calling thread runs the first closure at once, and the rest of the call is what
/// others may steal: with one P everything runs in the order of the serial program. With tasks the first closures are
/// put up to be stolen and the last one runs at once.
///
/// Exceptions: all that was started is finished first. Then the exception is rethrown that the serial program would have
/// thrown; others are dropped, and closures after it that have not started do not start (with tasks, later ones may
/// have).
///
/// Code after it may run on another thread. Closures may be lvalues or temporaries; they are neither copied nor moved,
/// except small trivial ones. Cost: some two nanoseconds a fork where nothing is stolen; no allocation, no fence.
template <class Policy = continuations, class F, class G, class... More>
[[gnu::always_inline]] inline auto fork_join(F&& f, G&& g, More&&... more) {
  static_assert(std::is_same_v<Policy, continuations> || std::is_same_v<Policy, tasks>,
                "fj::fork_join: the policy is fj::continuations or fj::tasks");
  static_assert(std::is_invocable_v<F&> && std::is_invocable_v<G&> && (std::is_invocable_v<More&> && ...),
                "fj::fork_join: each argument must be callable without arguments");
  using std::is_void_v;
  if constexpr (is_void_v<detail::result_of<F>> && is_void_v<detail::result_of<G>> &&
                (is_void_v<detail::result_of<More>> && ...)) {
    static_cast<void>(detail::fork_all<Policy>(f, g, more...));
  } else {
    return detail::fork_all<Policy>(f, g, more...);
  }
}

}  // namespace fj
