// Forks of more than two children with one join: the iterations of a loop, or the closures of one fork_join.
//
// The home strand runs the iterations as it finds them in the code, and keeps what it can in registers. Only thieves
// call virtual functions. forkjoin/abi/fork_loop.hpp has the protocol.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/fork.hpp"
#include "forkjoin/abi/fork_loop.hpp"
#include "forkjoin/abi/run.hpp"
#include "forkjoin/detail/call_in.hpp"
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/first_exception.hpp"
#include "forkjoin/detail/loop_of_iterations.hpp"
#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/detail/result.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// What all loops have in common.
class loop_of_forks : public fork_loop {
 protected:
  [[gnu::always_inline]] explicit loop_of_forks(std::size_t iterations) noexcept : fork_loop(iterations) {}
  ~loop_of_forks() = default;

  // The home strand calls next_is before each iteration; offer before it and take_back after it, unless it is the last
  // one, which has no rest. When either says false, join_iterations follows.

  [[gnu::always_inline]] void next_is(std::size_t iteration) noexcept { rest.next = iteration; }

  /// False outside any runtime.
  [[nodiscard, gnu::always_inline]] bool offer() noexcept {
    return __builtin_expect(!detail::push_record(rest), true) || detail::push_slow();
  }

  /// False if the rest was stolen.
  [[nodiscard, gnu::always_inline]] bool take_back() noexcept {
    return __builtin_expect(detail::pop_record(rest), true) || detail::pop_slow(rest);
  }

  /// Called by the home strand in the handler of what an iteration threw. True if the rest was stolen: then
  /// join_iterations follows. False: the exception is the loop's.
  [[nodiscard, gnu::cold, gnu::noinline]] bool keep_exception() noexcept {
    if (rest.next == count || detail::pop_record(rest) || detail::pop_slow(rest)) return false;
    errors_.offer(rest.next - 1, caught_exception());
    return true;
  }

  /// Waits for the stolen iterations, from rest.next on. Outside any runtime it runs all iterations in the default one.
  [[gnu::cold, gnu::noinline]] void join_iterations() {
    if (current_scheduler()) return detail::join_loop_slow(*this);
    const auto all = [this] { detail::run_as_stolen(*this); };
    detail::call_in(default_scheduler(), all);
  }

  /// After join_iterations: throws what the loop has to throw, if anything.
  [[gnu::cold, gnu::noinline]] void throw_first() {
    if (errors_.any()) std::rethrow_exception(errors_.take());
  }

  /// Instead of throw_first, where something else is thrown.
  [[gnu::cold]] void drop_exceptions() noexcept {
    if (errors_.any()) errors_.take();
  }

  /// Calls run() as that iteration of a thief, unless an earlier one has thrown. False if it has thrown, or was not
  /// called. A later iteration that has thrown does not count: by the order of the program this one comes first.
  template <class Iteration>
  bool run_unless_thrown(std::size_t iteration, const Iteration& run) noexcept {
    if (errors_.any_before(iteration)) return false;
    try {
      run();
      return true;
    } catch (...) {
      errors_.offer(iteration, caught_exception());
      return false;
    }
  }

 private:
  first_exception errors_;
};

/// Calls iterations.
template <class Iteration>
using loop_of_iterations = basic_loop_of_iterations<loop_of_forks, Iteration>;

/// Adds up values by op, beginning with an initial one: iteration.add(sum, i, op) adds those of an iteration,
/// iteration.put(i, at) puts them elsewhere, and iteration.begin(i) is how many come before. Only the home strand calls
/// op: thieves keep their values for it.
template <class T, class Value, class Iteration, class Op>
class loop_of_values final : loop_of_forks {
 public:
  [[gnu::always_inline]] loop_of_values(std::size_t iterations, const Iteration& iteration, Op& op) noexcept
      : loop_of_forks(iterations), iteration_(iteration), op_(op) {}
  [[gnu::always_inline]] ~loop_of_values() {}

  // Written out, as the run of basic_loop_of_iterations is: with a loop that both share, and a closure for the
  // iteration, skynet took a quarter more instructions: g++ kept the sum in memory.
  [[gnu::always_inline]] T run(std::size_t n, T sum, Iteration iteration, Op& op) {
    bool threw = false;
    try {
      for (std::size_t i = 0;;) {
        next_is(n);  // nothing is offered if start throws
        iteration.start(i);
        next_is(i + 1);
        if (i + 1 == n) return iteration.add(std::move(sum), i, op);
        if (!offer()) break;
        sum = iteration.add(std::move(sum), i, op);
        if (!take_back()) break;
        ++i;
      }
    } catch (...) {
      if (!keep_exception()) throw;
      threw = true;
    }
    return add_stolen(static_cast<carried&&>(sum), threw);
  }

 private:
  using values = std::unique_ptr<std::optional<Value>[]>;
  // By reference if the move may throw: while there are thieves nothing may leave this frame.
  using carried = std::conditional_t<std::is_nothrow_move_constructible_v<T>, T, T&>;

  // Adds up to the first value that is missing: an operation that throws before is what the serial program would have
  // seen.
  [[gnu::cold, gnu::noinline]] T add_stolen(carried sum, bool home_threw) {
    join_iterations();
    const values stolen = std::move(stolen_);
    std::destroy_at(std::addressof(stolen_));
    const std::size_t size = stolen && !home_threw ? iteration_.begin(count) - iteration_.begin(rest.next) : 0;
    for (std::size_t i = 0; i != size && stolen[i]; ++i) {
      try {
        sum = static_cast<T>(std::invoke(op_, std::move(sum), *std::move(stolen[i])));
      } catch (...) {
        drop_exceptions();
        throw;
      }
    }
    throw_first();
    return static_cast<T&&>(sum);
  }

  bool begin_stolen() noexcept override {
    std::construct_at(std::addressof(stolen_));
    const auto allocate = [&] {
      stolen_.reset(new std::optional<Value>[iteration_.begin(count) - iteration_.begin(rest.next)]);
    };
    return run_unless_thrown(rest.next, allocate);
  }

  bool start_stolen(std::size_t i) noexcept override {
    return run_unless_thrown(i, [&] { iteration_.start(i); });
  }

  bool run_stolen(std::size_t i) noexcept override {
    return run_unless_thrown(
        i, [&] { iteration_.put(i, std::addressof(stolen_[iteration_.begin(i) - iteration_.begin(rest.next)])); });
  }

  Iteration iteration_;
  Op& op_;
  union {
    values stolen_;  ///< from the first theft on
  };
};

/// Whether the caller is outside of any runtime. Inside it seldom takes more than a load.
[[gnu::always_inline]] inline bool is_outside() noexcept {
  return !face_of(current_deque()).asks_nothing() && !current_scheduler();
}

/// A lone iteration offers nothing, so it would not enter a runtime by itself.
template <class F>
[[gnu::cold, gnu::noinline]] result_of<const F> call_in_default(const F& lone) {
  return detail::call_in(default_scheduler(), lone);
}

/// Calls iteration(i) for all i < n, in order; all that follow the first are offered to thieves.
template <class Iteration>
[[gnu::always_inline]] inline void fork_iterations(std::size_t n, const Iteration& iteration) {
  if (n == 1 && is_outside()) [[unlikely]]
    return call_in_default([&] { detail::fork_iterations(1, iteration); });
  if (n != 0) loop_of_iterations<Iteration>(n, iteration).run(n, iteration);
}

/// Adds up the values of all iterations by op, in the same way.
template <class Value, class T, class Iteration, class Op>
[[gnu::always_inline]] inline T fork_values(std::size_t n, T&& init, const Iteration& iteration, Op& op) {
  if (n == 0) return std::move(init);
  if (n == 1) {  // half of the inner nodes of a search have one child
    const auto add = [&]() -> T {
      Iteration only(iteration);
      only.start(0);
      return only.add(std::move(init), 0, op);
    };
    if (is_outside()) [[unlikely]]
      return call_in_default(add);
    return add();
  }
  return loop_of_values<T, Value, Iteration, Op>(n, iteration, op).run(n, std::move(init), iteration, op);
}

/// A result that may come later, and goes with its owner if it has not been taken.
template <class R>
class kept_result : late_result<R> {
 public:
  ~kept_result() {
    if (there_) this->drop();
  }

  template <class F>
  [[gnu::always_inline]] void store(F& f) {
    late_result<R>::store(f);
    there_ = true;
  }

  [[gnu::always_inline]] value_of<R> take() {
    there_ = false;
    return late_result<R>::take();
  }

 private:
  bool there_ = false;
};

template <class R>
  requires std::is_trivially_destructible_v<value_of<R>>
class kept_result<R> : public late_result<R> {};

/// Calls closures, and has their results.
template <class... F>
class fork_of_many final : loop_of_forks {
 public:
  [[gnu::always_inline]] explicit fork_of_many(lvalue<F>... f) noexcept
      : loop_of_forks(sizeof...(F)), closures_{f...} {}

  [[gnu::always_inline]] std::tuple<value_of<result_of<F>>...> run() {
    run_all(std::index_sequence_for<F...>());
    return std::apply([](auto&... result) { return std::tuple<value_of<result_of<F>>...>{result.take()...}; },
                      results_);
  }

 private:
  template <std::size_t... Is>
  [[gnu::always_inline]] void run_all(std::index_sequence<Is...>) {
    try {
      if (__builtin_expect((fork_or_call<Is>() && ...), true)) return;
    } catch (...) {
      if (!keep_exception()) throw;
    }
    join_iterations();
    throw_first();
  }

  template <std::size_t Is>
  [[gnu::always_inline]] bool fork_or_call() {
    constexpr bool is_last = Is + 1 == sizeof...(F);
    next_is(Is + 1);
    if (!is_last && !offer()) return false;
    call<Is>();
    return is_last || take_back();
  }

  template <std::size_t Is>
  [[gnu::always_inline]] void call() {
    std::get<Is>(results_).store(std::get<Is>(closures_));
  }

  template <std::size_t Is>
  static void call_stolen(fork_of_many& self) {
    self.call<Is>();
  }

  bool run_stolen(std::size_t i) noexcept override {
    return run_unless_thrown(i, [&] { call_any(i, std::index_sequence_for<F...>()); });
  }

  template <std::size_t... Is>
  void call_any(std::size_t i, std::index_sequence<Is...>) {
    static constexpr void (*each[])(fork_of_many&) = {&call_stolen<Is>...};
    each[i](*this);
  }

  std::tuple<closure_argument<F>...> closures_;
  std::tuple<kept_result<result_of<F>>...> results_;
};

}}}  // namespace fj::v0_4::detail
