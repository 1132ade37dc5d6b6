// What fork_join is made of in the serial build: calls, one after the other.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/policies.hpp"
#include "forkjoin/serial/observer.hpp"
#include "forkjoin/serial/run.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A result that its branch has built, and that the strand takes after the join.
template <class R>
class kept_result {
 public:
  kept_result() = default;
  ~kept_result() {
    if (came_) result_.drop();
  }
  kept_result(const kept_result&) = delete;
  kept_result& operator=(const kept_result&) = delete;

  template <class F>
  void store(F& f) {
    result_.store(f);
    came_ = true;
  }

  value_of<R> take() {
    came_ = false;
    return result_.take();
  }

 private:
  late_result<R> result_;
  bool came_ = false;
};

/// As fork_all, for an observer.
template <class... F>
std::tuple<value_of<result_of<F>>...> fork_all_observed(lvalue<F>... f) {
  std::tuple<kept_result<result_of<F>>...> results;
  const auto fork = [&]<std::size_t... N>(std::index_sequence<N...>) -> std::tuple<value_of<result_of<F>>...> {
    fork_block block(block_kind::fork_join);
    block.branches([&] { std::get<N>(results).store(f); }...);
    return {std::get<N>(results).take()...};
  };
  return fork(std::index_sequence_for<F...>());
}

/// Calls all closures in the order of the program, whatever the policy.
template <class Policy, class... F>
std::tuple<value_of<result_of<F>>...> fork_all(lvalue<F>... f) {
  const inside_run here;  // as the other build outside a runtime
  if constexpr (is_observed) {
    return detail::fork_all_observed<F...>(f...);
  } else {
    return {detail::call(f)...};  // in a braced list the first comes first
  }
}

/// As the other build's: g is left to the caller.
template <class F, class G>
bool fork_quietly(F f, G) {
  f();
  return false;
}

/// There are no thieves.
constexpr void answer() noexcept {}
constexpr bool begin_brief_part() noexcept { return true; }
constexpr void begin_part() noexcept {}
constexpr bool fork_wakes_worker() noexcept { return false; }
constexpr bool was_slow() noexcept { return false; }
constexpr int slow_for() noexcept { return 0; }

/// As the other build's, in the order of the program.
template <class Run>
class forked_sections {
 public:
  forked_sections(unsigned count, unsigned, Run run) noexcept : count_(count), run_(run) {}

  void run() {
    for (unsigned number = 0; number != count_; ++number) run_(number);
  }

 private:
  const unsigned count_;
  Run run_;
};

}}}  // namespace fj::v0_4::detail
