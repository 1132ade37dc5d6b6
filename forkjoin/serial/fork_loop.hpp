// Loops of forks in the serial build: loops.
#pragma once

#include <cstddef>
#include <utility>

#include "forkjoin/serial/run.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template <class Turn>
void fork_turns(std::size_t n, const Turn& turn) {
  const inside_run here;  // as the other build outside of a runtime
  Turn own(turn);
  for (std::size_t i = 0; i != n; ++i) {
    own.start(i);
    own(i);
  }
}

template <class Value, class T, class Turn, class Op>
T fork_values(std::size_t n, T&& init, const Turn& turn, Op& op) {
  const inside_run here;
  Turn own(turn);
  T sum(std::move(init));
  for (std::size_t i = 0; i != n; ++i) {
    own.start(i);
    sum = own.add(std::move(sum), i, op);
  }
  return sum;
}

}}}  // namespace fj::v0_2::detail
