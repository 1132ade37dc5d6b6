// Parallel reductions: sums by any associative operation.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/blocks.hpp"
#include "forkjoin/loops/fold.hpp"
#include "forkjoin/loops/fold_iterations.hpp"
#include "forkjoin/loops/loop_bounds.hpp"
#include "forkjoin/loops/number_reduction.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/loops/own_copy.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/serial/observer.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

/// What a projection of *it returns. By value if *it is a temporary, as a reference may be to that.
template <class F, class... It>
using projected_value = std::conditional_t<(std::is_reference_v<std::iter_reference_t<It>> && ...),
                                           std::invoke_result_t<F&, std::iter_reference_t<It>...>,
                                           std::remove_cvref_t<std::invoke_result_t<F&, std::iter_reference_t<It>...>>>;

/// The tree over the blocks. leaf(block) returns a block's value.
template <class T, class Leaf, class Op>
class reduction {
 public:
  reduction(Leaf& leaf, Op& op, const stop_token* stop) noexcept : leaf_(leaf), op_(op), parts_(stop) {}

  T run(std::size_t first, std::size_t last) {
    if (last - first == 1) return parts_.run(first, [=, this]() -> T { return leaf_(first); });
    const std::size_t middle = middle_of(first, last);
    auto [left, right] = fork_join([=, this] { return run(first, middle); },  //
                                   [=, this] { return run(middle, last); });
    return static_cast<T>(std::invoke(op_, std::move(left), std::move(right)));
  }

 private:
  Leaf& leaf_;
  Op& op_;
  ordered_parts parts_;
};

/// Of values of any type, or with a grain.
template <class T, class It, class Get, class Op>
[[gnu::noinline]] T reduce_blocks(const It& first, std::size_t n, Get get, Op& op, loop_options options) {
  const blocks all(n, options.grain, reduce_block);
  const auto leaf = [&](std::size_t block) {
    if constexpr (sees_all_forks) {
      return detail::fold_iterations<T>(detail::advanced(first, all.begin(block)), all.size_of(block), get, op);
    } else {
      return detail::fold<T>(detail::advanced(first, all.begin(block)), all.size_of(block), get, op);
    }
  };
  return fj::run([&] { return reduction<T, decltype(leaf), Op>(leaf, op, options.stop).run(0, all.count()); });
}

template <class T, class It, class Get, class Op>
[[gnu::always_inline]] inline T reduce(const It& first, std::size_t n, T init, Get get, Op& op,
                                       const loop_options& options) {
  if (n == 0) return init;
  using value_type = addend<T, decltype(get(first))>;
  const auto value = [get](const It& at) -> value_type { return static_cast<value_type>(get(at)); };
  if constexpr (plain_number<T>) {
    if (options.grain == 0) {
      T sum = detail::reduce_numbers<T>(first, n, value, op, options);
      return static_cast<T>(std::invoke(op, std::move(init), std::move(sum)));
    }
  }
  T sum = detail::reduce_blocks<T>(first, n, value, op, options);
  return static_cast<T>(std::invoke(op, std::move(init), std::move(sum)));
}

/// A body that folds a block into a value, at the ends that the caller chooses: iterators or indices.
template <class Body, class T, class It>
concept block_body = std::is_invocable_r_v<T, Body&, It, It, T>;

/// A body that adds an element to a value.
template <class Body, class T, class It>
concept element_body = std::is_invocable_r_v<T, Body&, T, std::iter_reference_t<It>>;

/// Not inlined: all blocks run the same copy of the user's code, which clang compiles to 6 % faster a loop than inside
/// the loop over blocks.
template <class T, class Body, class It>
[[gnu::noinline, gnu::hot]] T fold_block(Body& body, It begin, It end, T value) {
  return static_cast<T>(std::invoke(body, std::move(begin), std::move(end), std::move(value)));
}

/// Body folds a block into a value, which begins as the identity. Join combines values. at(k) is the place of element
/// k.
template <class T, class At, class Body, class Join>
T accumulate_blocks(std::size_t n, const At& at, T identity, Body& body, Join& joins, const loop_options& options) {
  if (n == 0) return identity;
  const blocks all(n, options.grain, body_block);
  const auto leaf = [&, &identity = std::as_const(identity)](std::size_t block) -> T {
    return detail::fold_block<T>(body, at(all.begin(block)), at(all.end(block)), T(identity));
  };
  if constexpr (small_value<T>)
    if (options.grain == 0) return detail::reduce_kept<T>(all, leaf, joins, options);
  return fj::run([&] { return reduction<T, decltype(leaf), Join>(leaf, joins, options.stop).run(0, all.count()); });
}

/// Body folds a block into a value, or adds an element.
template <class T, class It, class Body, class Join>
T accumulate(const It& first, std::size_t n, T identity, Body& body, Join& joins, const loop_options& options) {
  const auto at = [&first](std::size_t k) { return detail::advanced(first, k); };
  if constexpr (element_body<Body, T, It>) {
    auto each = [&body](It from, const It& to, T acc) {
      // By their number: up to an end that the caller computed g++ takes 1.6 times as long to count numbers above a
      // bound.
      for (std::size_t remaining = static_cast<std::size_t>(to - from); remaining != 0;
           --remaining, static_cast<void>(++from))
        acc = static_cast<T>(std::invoke(body, std::move(acc), *from));
      return acc;
    };
    return detail::accumulate_blocks<T>(n, at, std::move(identity), each, joins, options);
  } else {
    return detail::accumulate_blocks<T>(n, at, std::move(identity), body, joins, options);
  }
}

template <class F, class T, class It>
concept join_for = !std::is_invocable_v<F&, std::iter_reference_t<It>> && std::is_invocable_v<F&, T, T>;

/// Why not values T that Join combines.
template <class T, class Join>
consteval auto why_not_values() {
  if constexpr (!std::copy_constructible<T> || !std::assignable_from<T&, T>) {
    return refusal("the identity cannot be copied: it must be copyable and assignable, as each block begins with one");
  } else if constexpr (!std::is_invocable_r_v<T, Join&, T, T>) {
    return refusal("the join does not fit: it must be callable with two values and return a value");
  } else {
    return not_refused;
  }
}

template <class T, class Body, class Join, class It>
consteval auto why_not_accumulate() {
  if constexpr (!std::random_access_iterator<It>) {
    return refusal(
        "no random access: first and last must be random-access iterators; what has only others, as a std::list, can "
        "be copied to a std::vector");
  } else if constexpr (constexpr auto why = detail::why_not_values<T, Join>(); !why.is_empty()) {
    return why;
  } else if constexpr (!element_body<Body, T, It> && !block_body<Body, T, It>) {
    return refusal(
        "the body does not fit: with an identity and a join it must be callable with a value and an element, or with "
        "two "
        "iterators, the ends of a block, and a value, and return a value");
  } else {
    return not_refused;
  }
}

template <class First, class Last, class T, class Body, class Join>
consteval auto why_not_accumulate_indices() {
  if constexpr (constexpr auto why = detail::why_not_bounds<First, Last>(); !why.is_empty()) {
    return why;
  } else if constexpr (!block_body<Body, T, std::common_type_t<First, Last>>) {
    return refusal(
        "the body does not fit: it must be callable with two indices, the ends of a block, and a value, and return a "
        "value");
  } else {
    return detail::why_not_values<T, Join>();
  }
}

/// F is called with an element of each of the sequences: a projection, or a transformation.
template <class T, class Op, class F, class... It>
consteval auto why_not_transform_reduce() {
  if constexpr (!std::move_constructible<T> || !std::assignable_from<T&, T>) {
    return refusal(
        "the initial value cannot move: it must be movable, as all results are; take a std::unique_ptr to one");
  } else if constexpr (!(std::random_access_iterator<It> && ...)) {
    return refusal(
        "no random access: first, last and second must be random-access iterators; what has only others, as a "
        "std::list, can be copied to a std::vector");
  } else if constexpr (!std::is_invocable_v<F&, std::iter_reference_t<It>...>) {
    return refusal("the projection does not fit: it, or the transformation, must be callable with the elements");
  } else if constexpr (!foldable<T, Op, projected_value<F, It...>>) {
    return refusal(
        "the operation does not fit: elements must convert to the type of the initial value, and the operation must be "
        "callable with two such values, and with one and an element, and give such a value");
  } else {
    return not_refused;
  }
}

/// The last function is a projection, or a join.
template <class T, class Op, class F, class It>
consteval auto why_not_reduce() {
  if constexpr (join_for<F, T, It>) {
    return detail::why_not_accumulate<T, Op, F, It>();
  } else {
    return detail::why_not_transform_reduce<T, Op, F, It>();
  }
}

template <class T>
concept array = std::is_array_v<std::remove_reference_t<T>>;

/// An array and what may be a pointer to its end: a second sequence then has to be an array too.
template <class First, class Second>
concept array_and_end = array<First> && !array<Second> && std::sentinel_for<std::decay_t<Second>, std::decay_t<First>>;

template <class Range, class T, class Op, class F, class... Second>
consteval auto why_not_transform_reduce_range() {
  if constexpr (!divisible_range<Range>) {
    return undivisible_range;
  } else {
    return detail::why_not_transform_reduce<T, Op, F, std::ranges::iterator_t<Range>, Second...>();
  }
}

/// A body of oneTBB's parallel_reduce. Not to be asked of what takes elements: a generic lambda need not compile with a
/// range.
template <class Body, class Range, class T>
concept takes_range = std::is_invocable_v<Body&, std::remove_cvref_t<Range>&, T>;

/// The same for a range that is none of the language. What is one is not asked.
template <class Body, class Range, class T>
concept takes_foreign_range = !std::ranges::range<Range> && takes_range<Body, Range, T>;

inline constexpr refusal no_operation(
    "no operation: add std::plus<>() or another one, as in parallel_reduce(first, last, 0, std::plus<>())");
inline constexpr refusal no_initial_value(
    "no initial value, no operation: add both, as in parallel_reduce(first, last, 0, std::plus<>())");
inline constexpr refusal no_operations(
    "no operations: add std::plus<>(), std::multiplies<>() or others after the initial value");

inline constexpr refusal body_takes_range(
    "the body takes a range, as in oneTBB: pass first, last, and a body(begin, end, value) or a body(value, element)");

template <class Range, class T, class Op, class F>
consteval auto why_not_reduce_range() {
  if constexpr (!divisible_range<Range>) {
    return detail::why_not_transform_reduce_range<Range, T, Op, F>();
  } else if constexpr (std::is_invocable_v<Op&, T, std::ranges::range_reference_t<Range>>) {
    return detail::why_not_reduce<T, Op, F, std::ranges::iterator_t<Range>>();
  } else if constexpr (takes_range<Op, Range, T>) {
    return body_takes_range;
  } else {
    return detail::why_not_reduce<T, Op, F, std::ranges::iterator_t<Range>>();
  }
}

}  // namespace detail

/// init op proj(*first) op ... op proj(*(last - 1)), possibly in parallel, where op must be associative but need not be
/// commutative. As in std::reduce, init counts once and need not be an identity. The result and all partial results
/// have the type of init, which may be a move-only type.
///
/// The association depends on the number of elements and options.grain alone. So the result is the same to the last bit
/// on any number of Ps and with any schedule, also for operations that are only nearly associative, such as
/// floating-point sums. What proj returns is rounded before it is added, so g++ does not fuse a product with the sum.
/// Programs compiled with -ffast-math, or with clang and -ffp-contract=fast, get no such promise; nor do, with g++,
/// functions whose own target attribute adds FMA to what the file is compiled for. Floating-point elements are folded
/// in an association that compilers can vectorize. If the elements are numbers and there is no grain, the calling
/// strand computes a sum of a few microseconds alone, as parallel_for does with short loops. The left argument of each
/// call of op is an accumulator, from which op may move; the right one is another, or what proj returned; if init
/// is a number, the latter is converted to its type before. So 0 as init makes integers of fractions: write 0.0. A
/// projection or transformation that parallel_for would copy as a body is copied, and called as const.
///
/// Errors: what op or proj throws; of several exceptions, the first in order. std::bad_alloc. fj::cancelled if
/// options.stop was asked to stop before every block had started. Iterators must be random-access ones. Outside of a
/// runtime the call enters the default one.
template <class First, class Last, class T, class Op, class Projection = std::identity>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::not_options<Op> &&
           detail::not_options<Projection> && (!detail::join_for<Projection, T, First>) &&
           detail::accepted<detail::why_not_reduce<T, Op, Projection, First>()>
[[nodiscard, gnu::always_inline]] inline T
    parallel_reduce(First first, Last last, T init, Op op, Projection proj = {}, const loop_options& options = {}) {
  const auto own = detail::own_copy<std::iter_reference_t<First>>(proj);
  const auto get = [own](const First& at) -> detail::projected_value<Projection, First> {
    return std::invoke(own, *at);
  };
  return detail::reduce(first, detail::size_between(first, last), std::move(init), get, op, options);
}

template <class First, class Last, class T, class Op>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::not_options<Op> &&
           detail::accepted<detail::why_not_reduce<T, Op, std::identity, First>()>
[[nodiscard, gnu::always_inline]] inline T parallel_reduce(First first, Last last, T init, Op op,
                                                           const loop_options& options) {
  return fj::parallel_reduce(first, last, std::move(init), std::move(op), std::identity(), options);
}

template <class First, class Last, class T, class Op, class Projection = loop_options,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::not_options<Op>>,
          auto Why = detail::why_not_reduce<T, Op, detail::given<Projection, std::identity>, First>()>
  requires(!detail::accepted<Why>)
T parallel_reduce(First first, Last last, T init, Op op, Projection proj = {},
                  const loop_options& options = {}) = delete;

/// The same for all elements of a range, which must be a random-access one with a size.
template <std::ranges::range Range, class T, class Op, class Projection = std::identity>
  requires detail::not_options<Op> && detail::not_options<Projection> &&
           (!detail::join_for<Projection, T, std::ranges::iterator_t<Range>>) &&
           detail::accepted<detail::why_not_reduce_range<Range, T, Op, Projection>()>
[[nodiscard, gnu::always_inline]] inline T
    parallel_reduce(Range&& range, T init, Op op, Projection proj = {}, const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  return fj::parallel_reduce(first, detail::advanced(first, detail::size_of(range)), std::move(init), std::move(op),
                             std::move(proj), options);
}

template <std::ranges::range Range, class T, class Op>
  requires detail::not_options<Op> && detail::accepted<detail::why_not_reduce_range<Range, T, Op, std::identity>()>
[[nodiscard, gnu::always_inline]] inline T parallel_reduce(Range&& range, T init, Op op, const loop_options& options) {
  return fj::parallel_reduce(std::forward<Range>(range), std::move(init), std::move(op), std::identity(), options);
}

template <std::ranges::range Range, class T, class Op, class Projection = loop_options,
          class = detail::when<detail::not_options<Op>>, class = detail::when<!detail::array_end<T>>,
          auto Why = detail::why_not_reduce_range<Range, T, Op, detail::given<Projection, std::identity>>()>
  requires(!detail::accepted<Why>)
T parallel_reduce(Range&& range, T init, Op op, Projection proj = {}, const loop_options& options = {}) = delete;

// As std::reduce, which adds. Compilers show the words.
template <class First, class Last, class T,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::not_options<T>>,
          auto Why = detail::no_operation>
T parallel_reduce(First first, Last last, T init, const loop_options& options = {}) = delete;

template <std::ranges::range Range, class T, class = detail::when<detail::not_options<T> && !detail::array_end<T>>,
          auto Why = detail::no_operation>
T parallel_reduce(Range&& range, T init, const loop_options& options = {}) = delete;

template <class First, class Last,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First>>,
          auto Why = detail::no_initial_value>
void parallel_reduce(First first, Last last, const loop_options& options = {}) = delete;

template <std::ranges::range Range, auto Why = detail::no_initial_value>
void parallel_reduce(Range&& range, const loop_options& options = {}) = delete;

// For oneTBB's ranges, which are none of the language.
template <class Range, class T, class Body, class Join,
          class = detail::when<detail::takes_foreign_range<Body, Range, T>>, auto Why = detail::body_takes_range>
T parallel_reduce(const Range&, const T&, const Body&, const Join&) = delete;  // (first, last, identity, body, join)

/// A reduction by a body and a join, to a value of another type than that of the elements. The body takes
///   - body(begin, end, value): folds a block [begin, end) into the value and returns the result, as the bodies of
///     oneTBB's parallel_reduce. The fastest where a loop over a block is faster than its iterations one by one, as
///     with a minimum and its place;
///   - body(value, element): adds an element to the value.
///
/// Each block begins with a copy of the identity, for which join(identity, x) must equal x, and join(value, value)
/// combines the values of the blocks in their order, in the tree of the other overloads: the result does not depend on
/// the number of Ps. body and join may move from the values that they get. With options.grain each block but the last
/// has so many elements; without, there are at most 255 blocks, or blocks of 8,192 elements. If the value is a small
/// trivial type and there is no grain, the calling strand computes a reduction of a few microseconds alone. An identity
/// that is long to copy, as a large std::vector, needs a grain.
///
/// Errors: as above; the exception is the serial program's, where "serial" is block by block. The compiler chooses
/// these overloads if the last function can be called with two values, but not with an element; a body that can be
/// called in both ways gets elements.
template <class First, class Last, class T, class Body, class Join>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::join_for<Join, T, First> &&
           detail::accepted<detail::why_not_accumulate<T, Body, Join, First>()>
[[nodiscard]] T parallel_reduce(First first, Last last, T identity, Body body, Join join,
                                const loop_options& options = {}) {
  return detail::accumulate(first, detail::size_between(first, last), std::move(identity), body, join, options);
}

template <std::ranges::range Range, class T, class Body, class Join>
  requires detail::divisible_range<Range> && detail::join_for<Join, T, std::ranges::iterator_t<Range>> &&
           detail::accepted<detail::why_not_accumulate<T, Body, Join, std::ranges::iterator_t<Range>>()>
[[nodiscard]] T parallel_reduce(Range&& range, T identity, Body body, Join join, const loop_options& options = {}) {
  return detail::accumulate(std::ranges::begin(range), detail::size_of(range), std::move(identity), body, join,
                            options);
}

/// The same for indices, with body(begin, end, value). Also throws std::invalid_argument, as parallel_for.
template <class First, class Last, class T, class Body, class Join>
  requires std::integral<First> && std::integral<Last> &&
           detail::accepted<detail::why_not_accumulate_indices<First, Last, T, Body, Join>()>
[[nodiscard]] T parallel_reduce(First first, Last last, T identity, Body body, Join join,
                                const loop_options& options = {}) {
  const detail::index_range<First, Last> indices("fj::parallel_reduce", first, last);
  const auto at = [&indices](std::size_t k) { return indices[k]; };
  return detail::accumulate_blocks<T>(indices.size(), at, std::move(identity), body, join, options);
}

template <class First, class Last, class T, class Body, class Join, class = detail::when<std::integral<First>>,
          class = detail::when<std::integral<Last>>,
          auto Why = detail::why_not_accumulate_indices<First, Last, T, Body, Join>()>
  requires(!detail::accepted<Why>)
T parallel_reduce(First first, Last last, T identity, Body body, Join join, const loop_options& options = {}) = delete;

/// init op transform(*first) op ...: parallel_reduce with a projection, in the order of std::transform_reduce.
template <class First, class Last, class T, class Op, class Transform>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::not_options<Transform> &&
           detail::accepted<detail::why_not_transform_reduce<T, Op, Transform, First>()>
[[nodiscard, gnu::always_inline]] inline T parallel_transform_reduce(First first, Last last, T init, Op op,
                                                                     Transform transform,
                                                                     const loop_options& options = {}) {
  return fj::parallel_reduce(first, last, std::move(init), std::move(op), std::move(transform), options);
}

// Not of two arrays: these are a range and a second sequence.
template <class First, class Last, class T, class Op, class Transform, class It = std::decay_t<First>,
          class = detail::when<std::input_or_output_iterator<It> && std::sentinel_for<std::decay_t<Last>, It> &&
                               detail::not_options<Transform> && !(detail::array<First> && detail::array<Last>)>,
          auto Why = detail::why_not_transform_reduce<T, Op, Transform, It>()>
  requires(!detail::accepted<Why>)
T parallel_transform_reduce(First&& first, Last&& last, T init, Op op, Transform transform,
                            const loop_options& options = {}) = delete;

/// init op transform(*first, *second) op transform(*(first + 1), *(second + 1)) op ...: inner products.
template <class First, class Last, class Second, class T, class Op, class Transform>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::not_options<Transform> &&
           detail::accepted<detail::why_not_transform_reduce<T, Op, Transform, First, Second>()>
[[nodiscard, gnu::always_inline]] inline T parallel_transform_reduce(First first, Last last, Second second, T init,
                                                                     Op op, Transform transform,
                                                                     const loop_options& options = {}) {
  using pair = detail::iterator_pair<First, Second>;
  const auto own = detail::own_copy<std::iter_reference_t<First>, std::iter_reference_t<Second>>(transform);
  const auto get = [own](const pair& at) -> detail::projected_value<Transform, First, Second> {
    return std::invoke(own, *at.first, *at.second);
  };
  return detail::reduce(pair{first, second}, detail::size_between(first, last), std::move(init), get, op, options);
}

template <class First, class Last, class Second, class T, class Op, class Transform,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::not_options<Transform>>,
          auto Why = detail::why_not_transform_reduce<T, Op, Transform, First, Second>()>
  requires(!detail::accepted<Why>)
T parallel_transform_reduce(First first, Last last, Second second, T init, Op op, Transform transform,
                            const loop_options& options = {}) = delete;

/// Both for all elements of a range, which must be a random-access one with a size.
template <std::ranges::range Range, class T, class Op, class Transform>
  requires detail::not_options<Transform> &&
           detail::accepted<detail::why_not_transform_reduce_range<Range, T, Op, Transform>()>
[[nodiscard, gnu::always_inline]] inline T parallel_transform_reduce(Range&& range, T init, Op op, Transform transform,
                                                                     const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  return fj::parallel_transform_reduce(first, detail::advanced(first, detail::size_of(range)), std::move(init),
                                       std::move(op), std::move(transform), options);
}

template <std::ranges::range Range, class T, class Op, class Transform,
          class = detail::when<detail::not_options<Transform> && !detail::array_end<T>>,
          auto Why = detail::why_not_transform_reduce_range<Range, T, Op, Transform>()>
  requires(!detail::accepted<Why>)
T parallel_transform_reduce(Range&& range, T init, Op op, Transform transform,
                            const loop_options& options = {}) = delete;

// An array and a pointer of its type are taken for two iterators.
template <std::ranges::range Range, class Second, class T, class Op, class Transform, class It = std::decay_t<Second>>
  requires detail::like_iterator<It> && detail::not_options<Transform> && (!detail::array_and_end<Range, Second>) &&
           detail::accepted<detail::why_not_transform_reduce_range<Range, T, Op, Transform, It>()>
[[nodiscard, gnu::always_inline]] inline T
    parallel_transform_reduce(Range&& range, Second&& second, T init, Op op, Transform transform,
                              const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  return fj::parallel_transform_reduce(first, detail::advanced(first, detail::size_of(range)), It(second),
                                       std::move(init), std::move(op), std::move(transform), options);
}

template <std::ranges::range Range, class Second, class T, class Op, class Transform, class It = std::decay_t<Second>,
          class = detail::when<detail::like_iterator<It> && !detail::array_end<T> && detail::not_options<Transform> &&
                               (detail::array<Second> || !std::sentinel_for<It, std::ranges::iterator_t<Range>>)>,
          auto Why = detail::why_not_transform_reduce_range<Range, T, Op, Transform, It>()>
  requires(!detail::accepted<Why>)
T parallel_transform_reduce(Range&& range, Second&& second, T init, Op op, Transform transform,
                            const loop_options& options = {}) = delete;

// As std::transform_reduce, which adds products.
template <class First, class Last, class Second, class T,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::like_iterator<Second> && detail::not_options<T>>,
          auto Why = detail::no_operations>
T parallel_transform_reduce(First first, Last last, Second second, T init, const loop_options& options = {}) = delete;

template <std::ranges::range Range, class Second, class T,
          class = detail::when<detail::like_iterator<std::decay_t<Second>> && !detail::array_end<T> &&
                               detail::not_options<T>>,
          auto Why = detail::no_operations>
T parallel_transform_reduce(Range&& range, Second&& second, T init, const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
