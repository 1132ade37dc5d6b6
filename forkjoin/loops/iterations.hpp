// The iterations of a loop of forks: what one fork runs.
//
// Such a loop is a function that is not inlined. In a recursion over it, compilers inline the user's function into the
// loop: then leaves cost no call, and other calls save no registers for the loop. detail/branch.hpp does the same for
// forks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/fork_loop.hpp"
#else
#include "forkjoin/detail/fork_loop.hpp"
#endif
#include "forkjoin/abi/os/compiler.hpp"
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/loop_bounds.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/serial/observer.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// The elements from an iterator on, by number.
template <class It>
struct elements_from {
  It first;

  [[gnu::always_inline]] decltype(auto) operator[](std::size_t i) const { return *detail::advanced(first, i); }
};

/// An iteration calls the body once.
template <class Sequence, class Body>
struct one_per_iteration {
  using result =
      std::invoke_result_t<std::remove_reference_t<Body>&, decltype(std::declval<Sequence&>()[std::size_t()])>;
  using value = std::remove_cvref_t<result>;

  [[gnu::always_inline]] one_per_iteration(const Sequence& all, std::size_t, lvalue<Body> what, const loop_options&)
      : sequence(all), body(what) {}

  Sequence sequence;
  body_argument<Body> body;

  static constexpr void start(std::size_t) noexcept {}
  static constexpr std::size_t iterations(std::size_t n) noexcept { return n; }
  static constexpr std::size_t begin(std::size_t iteration) noexcept { return iteration; }

  [[gnu::always_inline]] void operator()(std::size_t iteration) {
    static_cast<void>(std::invoke(body, sequence[iteration]));
  }

  template <class T, class Op>
  [[gnu::always_inline]] T add(T sum, std::size_t iteration, Op& op) {
    // Rounded, as values are that thieves have put elsewhere. A value before the element ends: what the body returns
    // may be a reference to it.
    return static_cast<T>(
        std::invoke(op, std::move(sum), os::rounded([&] { return value(std::invoke(body, sequence[iteration])); })));
  }

  template <class Slot>
  void put(std::size_t iteration, Slot* at) {
    at->emplace(std::invoke(body, sequence[iteration]));
  }
};

/// An iteration calls it options.grain times, unless a stop was asked for.
template <class Sequence, class Body>
struct some_per_iteration {
  using value = typename one_per_iteration<Sequence, Body>::value;

  some_per_iteration(const Sequence& all, std::size_t n, lvalue<Body> what, const loop_options& options)
      : one(all, n, what, options),
        size(n),
        grain(elements_a_strand(std::max<std::size_t>(options.grain, 1), 1)),
        stop(options.stop) {}

  one_per_iteration<Sequence, Body> one;
  std::size_t size, grain;
  const stop_token* stop;

  void start(std::size_t) const { throw_if_stopped(stop); }
  std::size_t iterations(std::size_t n) const noexcept { return n / grain + (n % grain != 0); }
  std::size_t begin(std::size_t iteration) const noexcept {
    return iteration < iterations(size) ? iteration * grain : size;
  }

  void operator()(std::size_t iteration) {
    for (std::size_t i = begin(iteration), end = begin(iteration + 1); i != end; ++i) one(i);
  }

  template <class T, class Op>
  T add(T sum, std::size_t iteration, Op& op) {
    for (std::size_t i = begin(iteration), end = begin(iteration + 1); i != end; ++i)
      sum = one.add(std::move(sum), i, op);
    return sum;
  }

  template <class Slot>
  void put(std::size_t iteration, Slot* at) {
    for (std::size_t i = begin(iteration), end = begin(iteration + 1); i != end; ++i) one.put(i, at++);
  }
};

/// Stands for options where the caller gave none.
struct no_options : loop_options {};

/// What a loop from `first` on runs over.
template <class First, class Last>
struct sequence_from {
  using type = elements_from<First>;

  [[gnu::always_inline]] static std::size_t size(const char*, const First& first, const Last& last) {
    return detail::size_between(first, last);
  }
};

template <index First, class Last>
struct sequence_from<First, Last> {
  using type = indices_from<std::common_type_t<First, Last>>;

  [[gnu::always_inline]] static std::size_t size(const char* loop, First first, Last last) {
    return index_range<First, Last>(loop, first, last).size();
  }
};

/// The iterations of a loop. Most loops have no options, and cheaper iterations.
template <class First, class Last, class Body, class Options>
using iterations_of = std::conditional_t<std::is_same_v<Options, no_options>,  //
                                         one_per_iteration<typename sequence_from<First, Last>::type, Body>,
                                         some_per_iteration<typename sequence_from<First, Last>::type, Body>>;

}}}  // namespace fj::v0_4::detail
