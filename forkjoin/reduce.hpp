// Parallel sums, of whatever kind.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "forkjoin/algorithm.hpp"
#include "forkjoin/blocks.hpp"
#include "forkjoin/fold.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/options.hpp"
#include "forkjoin/refusal.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/sequence.hpp"

namespace fj::inline v0_1 {

namespace detail {

/// Two iterators that go together.
template <class A, class B>
struct iterator_pair {
  A first;
  B second;

  iterator_pair& operator++() {
    ++first;
    ++second;
    return *this;
  }
};

template <class A, class B>
iterator_pair<A, B> advanced(const iterator_pair<A, B>& from, std::size_t by) {
  return {detail::advanced(from.first, by), detail::advanced(from.second, by)};
}

/// What a projection of *it returns, as it may be kept: if *it is a temporary, a reference may be to that.
template <class F, class... It>
using projected_value = std::conditional_t<(std::is_reference_v<std::iter_reference_t<It>> && ...),
                                           std::invoke_result_t<F&, std::iter_reference_t<It>...>,
                                           std::remove_cvref_t<std::invoke_result_t<F&, std::iter_reference_t<It>...>>>;

template <class Policy, class T, class It, class Get, class Op>
class reduction {
 public:
  reduction(const It& first, const blocks& all, Get& get, Op& op, const loop_options& options) noexcept
      : first_(first), blocks_(all), get_(get), op_(op), parts_(options.stop) {}

  T run(std::size_t first, std::size_t last) {
    if (last - first == 1) {
      return parts_.run(first, [=, this] {
        return detail::fold<T>(detail::advanced(first_, blocks_.begin(first)), blocks_.size_of(first), get_, op_);
      });
    }
    parts_.begin(first);  // with tasks, each of so many leaves would throw
    const std::size_t middle = first + (last - first) / 2;
    auto [left, right] = fork_join<Policy>([=, this] { return run(first, middle); },  //
                                           [=, this] { return run(middle, last); });
    return static_cast<T>(std::invoke(op_, std::move(left), std::move(right)));
  }

 private:
  const It& first_;
  const blocks& blocks_;
  Get& get_;
  Op& op_;
  ordered_parts parts_;
};

template <class Policy, class T, class It, class Get, class Op>
T reduce(const It& first, std::size_t n, T init, Get get, Op& op, const loop_options& options) {
  if (n == 0) return init;
  // Larger than a scan's, which go through a cache twice: at the end of each, memory waits for the sums.
  const blocks all(n, options.grain, 65536);
  T sum = fj::run([&] { return reduction<Policy, T, It, Get, Op>(first, all, get, op, options).run(0, all.count()); });
  return static_cast<T>(std::invoke(op, std::move(init), std::move(sum)));
}

/// F is called with an element of each of the sequences: a projection, or a transformation.
template <class T, class Op, class F, class... It>
consteval auto why_not_reduce() {
  if constexpr (!(std::random_access_iterator<It> && ...)) {
    return refusal(
        "fj::parallel_reduce, parallel_transform_reduce: first, last and second must be random-access iterators");
  } else if constexpr (!std::is_invocable_v<F&, std::iter_reference_t<It>...>) {
    return refusal(
        "fj::parallel_reduce, parallel_transform_reduce: the projection or transformation must be callable with the "
        "elements");
  } else if constexpr (!folds<T, Op, projected_value<F, It...>>) {
    return refusal(
        "fj::parallel_reduce, parallel_transform_reduce: elements must convert to the type of the initial value, and "
        "the "
        "operation must be callable with two such values, and with one and an element, and give such a value");
  } else {
    return not_refused;
  }
}

template <class Range, class T, class Op, class F>
consteval auto why_not_reduce_range() {
  if constexpr (!divisible_range<Range>) {
    return refusal("fj::parallel_reduce, parallel_transform_reduce: the range must have random access and a size");
  } else {
    return detail::why_not_reduce<T, Op, F, std::ranges::iterator_t<Range>>();
  }
}

}  // namespace detail

/// init op proj(*first) op ... op proj(*(last - 1)), possibly in parallel, where op must be associative but need not be
/// commutative. As std::reduce, init counts once and need not be an identity; its type is the result's, and all partial
/// results have it. It may be a type that can only be moved.
///
/// The association depends on the number of elements and options.grain alone. So with operations that are associative only
/// nearly, as floating-point sums, the result is the same to the last bit on any number of P and however work was stolen.
/// Floating-point elements are folded in an association that can be vectorised. The operation is called with an
/// accumulator on the left that it may move from.
///
/// Errors: what op or proj throw, the first in order of those thrown; fj::cancelled if options.stop asked before every
/// block had started. Iterators are random-access ones. Outside of a runtime it enters the default one.
template <class Policy = continuations, class First, class Last, class T, class Op, class Projection = std::identity>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::not_options<Op> &&
           detail::not_options<Projection> && detail::accepted<detail::why_not_reduce<T, Op, Projection, First>()>
[[nodiscard]] T parallel_reduce(First first, Last last, T init, Op op, Projection proj = {},
                                const loop_options& options = {}) {
  const auto get = [&proj](const First& at) -> detail::projected_value<Projection, First> {
    return std::invoke(proj, *at);
  };
  return detail::reduce<Policy>(first, detail::size_between(first, last), std::move(init), get, op, options);
}

template <class Policy = continuations, class First, class Last, class T, class Op>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::not_options<Op> &&
           detail::accepted<detail::why_not_reduce<T, Op, std::identity, First>()>
[[nodiscard]] T parallel_reduce(First first, Last last, T init, Op op, const loop_options& options) {
  return fj::parallel_reduce<Policy>(first, last, std::move(init), std::move(op), std::identity(), options);
}

template <class Policy = continuations, class First, class Last, class T, class Op, class Projection = loop_options,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::not_options<Op>>,
          auto Why = detail::why_not_reduce<T, Op, detail::given<Projection, std::identity>, First>()>
  requires(!detail::accepted<Why>)
T parallel_reduce(First first, Last last, T init, Op op, Projection proj = {},
                  const loop_options& options = {}) = delete;

/// The same for all elements of a range, which must be a random-access one with a size.
template <class Policy = continuations, std::ranges::range Range, class T, class Op, class Projection = std::identity>
  requires detail::not_options<Op> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_reduce_range<Range, T, Op, Projection>()>
[[nodiscard]] T parallel_reduce(Range&& range, T init, Op op, Projection proj = {}, const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  return fj::parallel_reduce<Policy>(first, detail::advanced(first, detail::size_of(range)), std::move(init),
                                     std::move(op), std::move(proj), options);
}

template <class Policy = continuations, std::ranges::range Range, class T, class Op>
  requires detail::not_options<Op> && detail::accepted<detail::why_not_reduce_range<Range, T, Op, std::identity>()>
[[nodiscard]] T parallel_reduce(Range&& range, T init, Op op, const loop_options& options) {
  return fj::parallel_reduce<Policy>(std::forward<Range>(range), std::move(init), std::move(op), std::identity(),
                                     options);
}

template <class Policy = continuations, std::ranges::range Range, class T, class Op, class Projection = loop_options,
          class = detail::when<detail::not_options<Op>>, class = detail::when<!detail::like_iterator<T>>,
          auto Why = detail::why_not_reduce_range<Range, T, Op, detail::given<Projection, std::identity>>()>
  requires(!detail::accepted<Why>)
T parallel_reduce(Range&& range, T init, Op op, Projection proj = {}, const loop_options& options = {}) = delete;

/// init op transform(*first) op ...: parallel_reduce with a projection, in the order of std::transform_reduce.
template <class Policy = continuations, class First, class Last, class T, class Op, class Transform>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::not_options<Transform> &&
           detail::accepted<detail::why_not_reduce<T, Op, Transform, First>()>
[[nodiscard]] T parallel_transform_reduce(First first, Last last, T init, Op op, Transform transform,
                                          const loop_options& options = {}) {
  return fj::parallel_reduce<Policy>(first, last, std::move(init), std::move(op), std::move(transform), options);
}

template <class Policy = continuations, class First, class Last, class T, class Op, class Transform,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::not_options<Transform>>,
          auto Why = detail::why_not_reduce<T, Op, Transform, First>()>
  requires(!detail::accepted<Why>)
T parallel_transform_reduce(First first, Last last, T init, Op op, Transform transform,
                            const loop_options& options = {}) = delete;

/// init op transform(*first, *second) op transform(*(first + 1), *(second + 1)) op ...: inner products.
template <class Policy = continuations, class First, class Last, class Second, class T, class Op, class Transform>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::not_options<Transform> &&
           detail::accepted<detail::why_not_reduce<T, Op, Transform, First, Second>()>
[[nodiscard]] T parallel_transform_reduce(First first, Last last, Second second, T init, Op op, Transform transform,
                                          const loop_options& options = {}) {
  using both = detail::iterator_pair<First, Second>;
  const auto get = [&transform](const both& at) -> detail::projected_value<Transform, First, Second> {
    return std::invoke(transform, *at.first, *at.second);
  };
  return detail::reduce<Policy>(both{first, second}, detail::size_between(first, last), std::move(init), get, op,
                                options);
}

template <class Policy = continuations, class First, class Last, class Second, class T, class Op, class Transform,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::not_options<Transform>>,
          auto Why = detail::why_not_reduce<T, Op, Transform, First, Second>()>
  requires(!detail::accepted<Why>)
T parallel_transform_reduce(First first, Last last, Second second, T init, Op op, Transform transform,
                            const loop_options& options = {}) = delete;

}  // namespace fj::inline v0_1
