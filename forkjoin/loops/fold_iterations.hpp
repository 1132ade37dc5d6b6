// The fold of a block of elements for an observer: each value is computed in an iteration of its own.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "forkjoin/loops/fold.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/serial/observer.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// As fold, with the same association. In a parallel run some values of a block may be computed by others; the
/// operation is one strand's.
template <class T, class It, class Get, class Op>
T fold_iterations(const It& it, std::size_t n, Get& get, Op& op) {
  // A flag for each value would cost as much as the value.
  constexpr bool is_plain = std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>;
  using kept = std::conditional_t<is_plain, T, std::optional<T>>;
  const auto values = std::make_unique_for_overwrite<kept[]>(n);
  fork_block loop(block_kind::loop);
  loop.iterations(n, [&](std::size_t i) {
    It at = detail::advanced(it, i);
    if constexpr (is_plain) {
      std::construct_at(std::addressof(values[i]), static_cast<T>(detail::element_at(at, get)));
    } else {
      values[i].emplace(static_cast<T>(detail::element_at(at, get)));
    }
  });
  loop.join();
  const auto read = [](kept* at) -> T&& {
    if constexpr (is_plain) {
      return std::move(*at);
    } else {
      return std::move(**at);
    }
  };
  return detail::fold<T>(values.get(), n, read, op);
}

}}}  // namespace fj::v0_4::detail
