// What the algorithms on sequences share: how they ask whether to stop, go over blocks, and compare.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/function_ref.hpp"
#include "forkjoin/loops/affinity.hpp"
#include "forkjoin/options.hpp"
#include "forkjoin/stop.hpp"

namespace fj::inline v0_1::detail {

/// To be called before a part of the work is started. Leaving a part out is an exception like others: what runs is
/// joined, and what lies further right and has not started does not start.
inline void throw_if_stopped(const stop_token* stop) {
  if (stop && stop->stop_requested()) throw cancelled();
}

/// The parts of a loop, each at its place in order. When one has thrown, those right of it that have not started do not
/// start; those left of it do, as only they can tell what the serial program would have thrown.
class ordered_parts {
 public:
  explicit ordered_parts(const stop_token* stop) noexcept : stop_(stop) {}

  /// To be called before parts from this place on are started: throws cancelled if they shall not be. Who asked to stop
  /// gets to see that, but after an exception nobody does, as what was thrown further left comes first.
  void begin(std::size_t place) {
    // relaxed: a hint, the exceptions come by the joins
    if (place > thrown_at_.load(std::memory_order_relaxed)) throw cancelled();
    throw_if_stopped(stop_);
  }

  /// Calls part() and returns its result. Throws what it throws, and as begin.
  template <class Part>
  auto run(std::size_t place, Part part) {
    begin(place);
    try {
      return part();
    } catch (...) {
      std::size_t first = thrown_at_.load(std::memory_order_relaxed);
      while (place < first && !thrown_at_.compare_exchange_weak(first, place, std::memory_order_relaxed)) {}
      throw;
    }
  }

 private:
  const stop_token* const stop_;
  std::atomic<std::size_t> thrown_at_ = std::numeric_limits<std::size_t>::max();
};

template <class Policy>
void for_blocks(std::size_t first, std::size_t last, const affinity& near, ordered_parts& parts,
                function_ref<void(std::size_t)> body) {
  if (last - first == 1) return parts.run(first, [first, body] { body(first); });
  parts.begin(first);  // with tasks, each of so many leaves would throw
  const std::size_t middle = first + (last - first) / 2;
  fork_parts<Policy>(
      near.takes_second(first, middle, last),
      [&, first, middle] { for_blocks<Policy>(first, middle, near, parts, body); },
      [&, middle, last] { for_blocks<Policy>(middle, last, near, parts, body); });
}

/// Calls body(block) for all of [first, last), in halves.
template <class Policy>
void for_blocks(std::size_t first, std::size_t last, ordered_parts& parts, function_ref<void(std::size_t)> body) {
  if (first != last) for_blocks<Policy>(first, last, affinity(first, last), parts, body);
}

/// A number of blocks for so many elements.
constexpr std::size_t blocks_of(std::size_t elements, std::size_t block) {
  return elements / block + (elements % block != 0);
}

/// A grain of the user's as a difference, however large.
template <class I>
constexpr std::iter_difference_t<I> as_difference(std::size_t n) {
  using difference = std::iter_difference_t<I>;
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<difference>::max());
  return static_cast<difference>(n < most ? n : most);
}

/// Elements that are copied like an integer: worth treating without branches, and never lost.
template <class T>
concept plain = std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && sizeof(T) <= 32;

/// Whether looking at an element throws nothing. std::reverse_iterator does not say so of itself.
template <class I>
inline constexpr bool reads_quietly =
    noexcept(*std::declval<I&>()) && noexcept(std::ranges::iter_move(std::declval<I&>()));
template <class I>
inline constexpr bool reads_quietly<std::reverse_iterator<I>> = reads_quietly<I>;

/// Whether elements of I move between the sequence and variables without exceptions.
template <class I>
concept moves_quietly =
    reads_quietly<I> && std::is_nothrow_constructible_v<std::iter_value_t<I>, std::iter_rvalue_reference_t<I>> &&
    std::is_nothrow_assignable_v<std::iter_reference_t<I>, std::iter_value_t<I>>;

// The conditions on what users hand over. The first part of each keeps the second from being asked about nonsense.

template <class P, class I>
concept projects = std::indirectly_regular_unary_invocable<P, I>;

template <class C, class I, class P>
concept orders = projects<P, I> && std::indirect_strict_weak_order<C, std::projected<I, P>>;

template <class F, class I, class P>
concept tests = projects<P, I> && std::indirect_unary_predicate<F, std::projected<I, P>>;

/// A comparator and a projection in one, by reference: whoever makes it outlives it.
template <class Compare, class Projection>
class ordering {
 public:
  ordering(Compare& comp, Projection& proj) noexcept : comp_(std::addressof(comp)), proj_(std::addressof(proj)) {}

  template <class A, class B>
    requires std::invocable<Projection&, A> && std::invocable<Projection&, B> &&
             std::invocable<Compare&, std::invoke_result_t<Projection&, A>, std::invoke_result_t<Projection&, B>>
  bool operator()(A&& a, B&& b) const {
    return static_cast<bool>(std::invoke(*comp_, std::invoke(*proj_, std::forward<A>(a)),  //
                                         std::invoke(*proj_, std::forward<B>(b))));
  }

 private:
  Compare* comp_;
  Projection* proj_;
};

}  // namespace fj::inline v0_1::detail
