// Loops of forks in the serial build: loops.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "forkjoin/serial/observer.hpp"
#include "forkjoin/serial/run.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

template <class Iteration>
void fork_iterations(std::size_t n, const Iteration& iteration) {
  if (n == 0) return;     // no fork, as in the other build
  const inside_run here;  // as the other build outside a runtime
  Iteration own(iteration);
  fork_block block(block_kind::loop);
  block.iterations(n, [&own](std::size_t i) {
    own.start(i);
    own(i);
  });
}

/// What an iteration has built in its branch, until the strand folds it.
template <class Value, class Iteration>
class values_of_iteration {
 public:
  values_of_iteration(Iteration& iterations, std::size_t iteration) : iterations_(iterations), iteration_(iteration) {}

  void operator()() {
    iterations_.start(iteration_);
    if constexpr (sees_all_forks) {
      iterations_.put(iteration_, &one_);
    } else {
      all_.resize(iterations_.begin(iteration_ + 1) - iterations_.begin(iteration_));
      iterations_.put(iteration_, all_.data());
    }
  }

  template <class F>
  void for_each(F f) {
    if (one_) f(std::move(*one_));
    for (std::optional<Value>& value : all_) f(std::move(*value));
  }

 private:
  Iteration& iterations_;
  const std::size_t iteration_;
  std::optional<Value> one_;  // each call of the body is an iteration then
  std::vector<std::optional<Value>> all_;
};

/// As fork_values, for an observer.
template <class Value, class T, class Iteration, class Op>
void fold_observed(std::size_t n, T& sum, Iteration& own, Op& op) {
  fork_block block(block_kind::fold);
  for (std::size_t i = 0; i != n; ++i) {
    values_of_iteration<Value, Iteration> values(own, i);
    block.branch_beside(values);
    values.for_each([&](Value value) { sum = static_cast<T>(std::invoke(op, std::move(sum), std::move(value))); });
  }
}

template <class Value, class T, class Iteration, class Op>
T fork_values(std::size_t n, T&& init, const Iteration& iteration, Op& op) {
  if (n == 0) return T(std::move(init));
  const inside_run here;
  Iteration own(iteration);
  T sum(std::move(init));
  if constexpr (is_observed) {
    detail::fold_observed<Value>(n, sum, own, op);
  } else {
    for (std::size_t i = 0; i != n; ++i) {
      own.start(i);
      sum = own.add(std::move(sum), i, op);
    }
  }
  return sum;
}

}}}  // namespace fj::v0_4::detail
