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
  const inside_run here;  // as the other build outside of a runtime
  Turn own(turn);
  fork_block block(block_kind::loop);
  block.turns(n, [&own](std::size_t i) {
    own.start(i);
    own(i);
  });
}

/// As fork_values, for an observer: a turn's values are built in its branch, and the strand folds them.
template <class Value, class T, class Turn, class Op>
void fold_observed(std::size_t n, T& sum, Turn& own, Op& op) {
  std::vector<std::optional<Value>> values;
  fork_block block(block_kind::fold);
  for (std::size_t i = 0; i != n; ++i) {
    values.resize(own.begin(i + 1) - own.begin(i));
    block.branch_beside([&] {
      own.start(i);
      own.put(i, values.data());
    });
    for (std::optional<Value>& value : values) sum = static_cast<T>(std::invoke(op, std::move(sum), std::move(*value)));
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
