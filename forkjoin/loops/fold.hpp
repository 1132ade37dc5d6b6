// The fold of a block of elements on one strand, always in the same association: the leaves of reductions and scans.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/os/compiler.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Acc op element, and partial op partial.
template <class T, class Op, class X>
concept foldable =
    std::convertible_to<X, T> && std::invocable<Op&, T, X> && std::invocable<Op&, T, T> &&
    std::convertible_to<std::invoke_result_t<Op&, T, X>, T> && std::convertible_to<std::invoke_result_t<Op&, T, T>, T>;

/// The operations that are known to be commutative.
template <class Op, class T>
concept commutative = std::same_as<Op, std::plus<>> || std::same_as<Op, std::plus<T>> ||
                      std::same_as<Op, std::multiplies<>> || std::same_as<Op, std::multiplies<T>>;

/// What is added to sums T for an element X. A number is added as a T, so that no block of elements differs from
/// others.
template <class T, class X>
using addend = std::conditional_t<std::is_arithmetic_v<T> && !std::is_same_v<std::remove_cvref_t<X>, T>, T, X>;

/// How many elements the fold takes in one step. Compilers neither vectorize nor interleave a chain of floating-point
/// operations, as that changes the result; the association in steps lets them.
template <class T>
inline constexpr std::size_t fold_width = sizeof(T) <= 8 ? 128 / sizeof(T) : 8;

/// For commutative operations: each lane folds its own elements, and the lanes are folded at the end.
template <class T, std::size_t Width, class Op>
class lanes {
 public:
  lanes(const T* step, Op&) {
    for (std::size_t i = 0; i != Width; ++i) lane_[i] = step[i];
  }
  void take(const T* step, Op& op) {
    for (std::size_t i = 0; i != Width; ++i) lane_[i] = op(lane_[i], step[i]);
  }
  T total(Op& op) { return total_of<Width>(op); }

 private:
  // Of the first lanes. Not a loop over all widths: g++ keeps the lanes in memory then, and each iteration waits for
  // the one before.
  template <std::size_t N>
  [[gnu::always_inline]] T total_of(Op& op) {
    if constexpr (N == 1) {
      return lane_[0];
    } else {
      for (std::size_t i = 0; i != N / 2; ++i) lane_[i] = op(lane_[i], lane_[i + N / 2]);
      return total_of<N / 2>(op);
    }
  }

  T lane_[Width];
};

/// For other operations: the elements of a step are combined in a tree, in their order, and the steps one after the
/// other.
template <class T, std::size_t Width, class Op>
class steps {
 public:
  steps(const T* step, Op& op) : total_(tree<Width>(step, op)) {}
  void take(const T* step, Op& op) {
    total_ = static_cast<T>(std::invoke(op, std::move(total_), tree<Width>(step, op)));
  }
  T total(Op&) { return total_; }

 private:
  template <std::size_t N>
  static T tree(const T* step, Op& op) {
    if constexpr (N == 1) {
      return *step;
    } else {
      return static_cast<T>(std::invoke(op, tree<N / 2>(step, op), tree<N / 2>(step + N / 2, op)));
    }
  }

  T total_;
};

/// Whether elements X are folded in steps, as floating-point numbers are. Compilers vectorize integers without that,
/// and for other types it matters little.
template <class T, class X>
concept folded_in_steps = std::floating_point<T> && std::same_as<std::remove_cvref_t<X>, T>;

template <class T, std::size_t Width, class Op>
using step_fold = std::conditional_t<commutative<Op, T>, lanes<T, Width, Op>, steps<T, Width, Op>>;

/// The element at `it`. Rounded, because the sum must not depend on which function computes it.
template <class It, class Get>
[[gnu::always_inline]] inline decltype(auto) element_at(It& it, Get& get) {
  return os::rounded([&]() -> decltype(auto) { return get(it); });
}

/// The next elements, in an array. `it` needs ++ only.
template <std::size_t Width, class T, class It, class Get>
[[gnu::always_inline]] inline void read_step(T (&step)[Width], It& it, Get& get) {
  for (T& x : step) {
    x = get(it);
    ++it;
  }
  if constexpr (os::may_be_fused<decltype(get(it))>)
    os::round(step);  // all at once: one by one they are not vectorized
}

template <class T, class It, class Get, class Op>
[[gnu::always_inline]] inline T fold_one_by_one(T acc, It it, std::size_t n, Get& get, Op& op) {
  for (; n != 0; --n, static_cast<void>(++it))
    acc = static_cast<T>(std::invoke(op, std::move(acc), detail::element_at(it, get)));
  return acc;
}

/// get(it) op get(it + 1) op ... for n > 0 elements, one by one: of fewer than fold_width.
template <class T, class It, class Get, class Op>
[[gnu::always_inline]] inline T fold_very_few(It it, std::size_t n, Get& get, Op& op) {
  T acc = static_cast<T>(detail::element_at(it, get));
  ++it;
  if (n == 1) return acc;
  acc = static_cast<T>(std::invoke(op, std::move(acc), detail::element_at(it, get)));
  ++it;
  return detail::fold_one_by_one(std::move(acc), std::move(it), n - 2, get, op);
}

/// Goes on after a first step.
template <class T, std::size_t Width, class It, class Get, class Op>
[[gnu::always_inline]] inline T fold_on_in_steps(const T* first, It it, std::size_t n, Get& get, Op& op) {
  step_fold<T, Width, Op> all(first, op);
  T step[Width];
  for (; n >= Width; n -= Width) {
    detail::read_step(step, it, get);
    all.take(step, op);
  }
  return detail::fold_one_by_one(all.total(op), it, n, get, op);
}

/// The same in steps, if there are Least elements or more.
template <class T, std::size_t Width, std::size_t Least, class It, class Get, class Op>
[[gnu::always_inline]] inline T fold_in_steps(It it, std::size_t n, Get& get, Op& op) {
  static_assert(Least >= Width);
  if constexpr (folded_in_steps<T, decltype(get(it))>) {
    if (n >= Least) {
      T step[Width];
      detail::read_step(step, it, get);
      return detail::fold_on_in_steps<T, Width>(step, it, n - Width, get, op);
    }
  }
  return detail::fold_very_few<T>(std::move(it), n, get, op);
}

/// Of fewer than 2 * fold_width elements. Very few are folded one by one: the vectors of a step would wait for elements
/// that the loop before has just stored, one by one.
template <class T, class It, class Get, class Op>
[[gnu::always_inline]] inline T fold_few(It it, std::size_t n, Get& get, Op& op) {
  constexpr std::size_t most = fold_width<T>;
  return detail::fold_in_steps<T, most / 4, most>(it, n, get, op);
}

/// Of any number. Not inlined: inside a recursion g++ takes the steps apart before it vectorizes, and sums take twice
/// as long. Hot: g++ takes some callers for unlikely ones, and would compile it for size, one element at a time.
template <class T, class It, class Get, class Op>
[[gnu::noinline, gnu::hot]] T fold(It it, std::size_t n, Get& get, Op& op) {
  if constexpr (folded_in_steps<T, decltype(get(it))>)
    if (n >= 2 * fold_width<T>) return detail::fold_in_steps<T, fold_width<T>, fold_width<T>>(it, n, get, op);
  return detail::fold_few<T>(it, n, get, op);
}

/// The same where the first fold_width elements have been read, and `it` is at the next of n more.
template <class T, class It, class Get, class Op>
[[gnu::noinline, gnu::hot]] T fold_on(const T* read, It it, std::size_t n, Get& get, Op& op) {
  if constexpr (folded_in_steps<T, decltype(get(it))>) {
    return detail::fold_on_in_steps<T, fold_width<T>>(read, it, n, get, op);
  } else {
    T acc = *read;
    for (std::size_t i = 1; i != fold_width<T>; ++i) acc = static_cast<T>(std::invoke(op, std::move(acc), T(read[i])));
    return detail::fold_one_by_one(std::move(acc), it, n, get, op);
  }
}

}}}  // namespace fj::v0_4::detail
