// The fold of a block of elements for an observer: each value is computed in a turn of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "forkjoin/loops/fold.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/serial/observer.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// As fold, with the same association. In a parallel run some values of a block may be computed by others; the operation is one strand's.
template <class T, class It, class Get, class Op>
T fold_turns(const It& it, std::size_t n, Get& get, Op& op) {
  std::vector<std::optional<T>> values(n);
  fork_block loop(block_kind::loop);
  loop.turns(n, [&](std::size_t i) {
    It at = detail::advanced(it, i);
    values[i].emplace(static_cast<T>(detail::element_at(at, get)));
  });
  loop.join();
  const auto read = [](std::optional<T>* at) -> T&& { return std::move(**at); };
  return detail::fold<T>(values.data(), n, read, op);
}

}}}  // namespace fj::v0_2::detail
