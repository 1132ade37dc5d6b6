// Loops of forks in the serial build: loops.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "forkjoin/serial/observer.hpp"
#include "forkjoin/serial/run.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template <class Turn>
void fork_turns(std::size_t n, const Turn& turn) {
  const inside_run here;  // as the other build outside a runtime
  Turn own(turn);
  fork_block block(block_kind::loop);
  block.turns(n, [&own](std::size_t i) {
    own.start(i);
    own(i);
  });
}

/// What a turn has built in its branch, until the strand folds it.
template <class Value, class Turn>
class values_of_turn {
 public:
  values_of_turn(Turn& turns, std::size_t turn) : turns_(turns), turn_(turn) {}

  void operator()() {
    turns_.start(turn_);
    if constexpr (sees_all_forks) {
      turns_.put(turn_, &one_);
    } else {
      all_.resize(turns_.begin(turn_ + 1) - turns_.begin(turn_));
      turns_.put(turn_, all_.data());
    }
  }

  template <class F>
  void for_each(F f) {
    if (one_) f(std::move(*one_));
    for (std::optional<Value>& value : all_) f(std::move(*value));
  }

 private:
  Turn& turns_;
  const std::size_t turn_;
  std::optional<Value> one_;  // each call of the body is a turn then
  std::vector<std::optional<Value>> all_;
};

/// As fork_values, for an observer.
template <class Value, class T, class Turn, class Op>
void fold_observed(std::size_t n, T& sum, Turn& own, Op& op) {
  fork_block block(block_kind::fold);
  for (std::size_t i = 0; i != n; ++i) {
    values_of_turn<Value, Turn> values(own, i);
    block.branch_beside(values);
    values.for_each([&](Value value) { sum = static_cast<T>(std::invoke(op, std::move(sum), std::move(value))); });
  }
}

template <class Value, class T, class Turn, class Op>
T fork_values(std::size_t n, T&& init, const Turn& turn, Op& op) {
  const inside_run here;
  Turn own(turn);
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

}}}  // namespace fj::v0_2::detail
