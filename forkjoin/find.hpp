// The first element that matches; and whether any, all or none match.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/elements.hpp"
#include "forkjoin/loops/search.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/run.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

/// Whether an element gives `wanted`: with the result or the exception of the serial search from left to right.
template <class It, class Predicate, class Projection>
bool find_any(It first, std::size_t n, Predicate& pred, Projection& proj, bool wanted, const loop_options& options) {
  using difference = std::iter_difference_t<It>;
  constexpr bool nothrow = noexcept(static_cast<bool>(std::invoke(pred, std::invoke(proj, *first))));
  std::atomic<bool> found = false;
  const auto matches = [&](std::size_t i) {
    // If pred and proj cannot throw, any match gives the result. Each strand reads the hint once in 64 elements.
    if constexpr (nothrow) {
      if (i % 64 == 0 && found.load(std::memory_order_relaxed)) return true;
    }
    const bool match =
        static_cast<bool>(std::invoke(pred, std::invoke(proj, first[static_cast<difference>(i)]))) == wanted;
    if (nothrow && match) found.store(true, std::memory_order_relaxed);
    return match;
  };
  return run([&] {
    if constexpr (nothrow) {
      try {
        return find_index(n, matches, options) != n;
      } catch (const cancelled&) {
        if (!found.load(std::memory_order_relaxed)) throw;  // the joins have ordered it
        return true;
      }
    } else {
      return find_index(n, matches, options) != n;
    }
  });
}

/// Why a search refuses a call.
template <class It, class Predicate, class Projection>
consteval auto why_not_search() {
  if constexpr (!std::random_access_iterator<It>) {
    return refusal("no random access: the elements need random-access iterators, to begin in several places at once");
  } else if constexpr (!predicate_for<Predicate, It, given<Projection, std::identity>>) {
    return unfit_predicate;
  } else {
    return not_refused;
  }
}

template <class T>
struct equals {
  const T& value;

  template <class X>
    requires requires(X&& element, const T& other) {
      { element == other } -> std::convertible_to<bool>;
    }
  bool operator()(X&& element) const {
    return static_cast<bool>(element == value);
  }
};

}  // namespace detail

/// The first element for which pred(proj(element)) holds, as std::ranges::find_if; last if there is none.
///
/// Stops early: it starts no search to the right of a match. Several threads may call pred and proj at the same time,
/// also for elements to the right of the result. Exceptions: as in the serial search; an exception to the right of the
/// result is dropped. options.grain: the number of elements after which a strand checks whether to stop; 0 for about a
/// thousand. fj::cancelled if options.stop is asked to stop before the result is certain. Outside a runtime the call
/// enters the default one, as all algorithms do.
///
/// Cost: at most one call of pred an element, and a fork for each grain of them.
template <class It, class S, class Predicate, class Projection = std::identity>
  requires std::sentinel_for<S, It> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_search<It, Predicate, Projection>()>
[[nodiscard]] It parallel_find_if(It first, S last, Predicate pred, Projection proj = {},
                                  const loop_options& options = {}) {
  using difference = std::iter_difference_t<It>;
  const std::size_t n = detail::size_between(first, last);
  const auto matches = [&](std::size_t i) {
    return static_cast<bool>(std::invoke(pred, std::invoke(proj, first[static_cast<difference>(i)])));
  };
  return detail::advanced(first, run([&] { return detail::find_index(n, matches, options); }));
}

template <class It, class S, class Predicate>
  requires std::sentinel_for<S, It> && detail::accepted<detail::why_not_search<It, Predicate, std::identity>()>
[[nodiscard]] It parallel_find_if(It first, S last, Predicate pred, const loop_options& options) {
  return fj::parallel_find_if(first, last, std::move(pred), std::identity(), options);
}

template <class It, class S, class Predicate, class Projection = loop_options,
          class = detail::when<std::sentinel_for<S, It>>,
          auto Why = detail::why_not_search<It, Predicate, Projection>()>
  requires(!detail::accepted<Why>)
It parallel_find_if(It first, S last, Predicate pred, Projection proj = {}, const loop_options& options = {}) = delete;

template <std::ranges::range R, class Predicate, class Projection = std::identity>
  requires detail::not_options<Projection> &&
           detail::accepted<detail::why_not_search<std::ranges::iterator_t<R>, Predicate, Projection>()>
[[nodiscard]] std::ranges::borrowed_iterator_t<R> parallel_find_if(R&& range, Predicate pred, Projection proj = {},
                                                                   const loop_options& options = {}) {
  return fj::parallel_find_if(std::ranges::begin(range), std::ranges::end(range), std::move(pred), std::move(proj),
                              options);
}

template <std::ranges::range R, class Predicate>
  requires detail::accepted<detail::why_not_search<std::ranges::iterator_t<R>, Predicate, std::identity>()>
[[nodiscard]] std::ranges::borrowed_iterator_t<R> parallel_find_if(R&& range, Predicate pred,
                                                                   const loop_options& options) {
  return fj::parallel_find_if(std::forward<R>(range), std::move(pred), std::identity(), options);
}

template <std::ranges::range R, class Predicate, class Projection = loop_options,
          class = detail::when<!detail::array_end<Predicate>>,
          auto Why = detail::why_not_search<std::ranges::iterator_t<R>, Predicate, Projection>()>
  requires(!detail::accepted<Why>)
std::ranges::borrowed_iterator_t<R> parallel_find_if(R&& range, Predicate pred, Projection proj = {},
                                                     const loop_options& options = {}) = delete;

/// The first element whose projection equals value, as std::ranges::find. All else as parallel_find_if.
template <class It, class S, class T, class Projection = std::identity>
  requires std::sentinel_for<S, It> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_search<It, detail::equals<T>, Projection>()>
[[nodiscard]] It parallel_find(It first, S last, const T& value, Projection proj = {},
                               const loop_options& options = {}) {
  return fj::parallel_find_if(first, last, detail::equals<T>{value}, std::move(proj), options);
}

template <class It, class S, class T>
  requires std::sentinel_for<S, It> && detail::accepted<detail::why_not_search<It, detail::equals<T>, std::identity>()>
[[nodiscard]] It parallel_find(It first, S last, const T& value, const loop_options& options) {
  return fj::parallel_find(first, last, value, std::identity(), options);
}

template <class It, class S, class T, class Projection = loop_options, class = detail::when<std::sentinel_for<S, It>>,
          auto Why = detail::why_not_search<It, detail::equals<T>, Projection>()>
  requires(!detail::accepted<Why>)
It parallel_find(It first, S last, const T& value, Projection proj = {}, const loop_options& options = {}) = delete;

template <std::ranges::range R, class T, class Projection = std::identity>
  requires detail::not_options<Projection> &&
           detail::accepted<detail::why_not_search<std::ranges::iterator_t<R>, detail::equals<T>, Projection>()>
[[nodiscard]] std::ranges::borrowed_iterator_t<R> parallel_find(R&& range, const T& value, Projection proj = {},
                                                                const loop_options& options = {}) {
  return fj::parallel_find(std::ranges::begin(range), std::ranges::end(range), value, std::move(proj), options);
}

template <std::ranges::range R, class T>
  requires detail::accepted<detail::why_not_search<std::ranges::iterator_t<R>, detail::equals<T>, std::identity>()>
[[nodiscard]] std::ranges::borrowed_iterator_t<R> parallel_find(R&& range, const T& value,
                                                                const loop_options& options) {
  return fj::parallel_find(std::forward<R>(range), value, std::identity(), options);
}

template <std::ranges::range R, class T, class Projection = loop_options, class = detail::when<!detail::array_end<T>>,
          auto Why = detail::why_not_search<std::ranges::iterator_t<R>, detail::equals<T>, Projection>()>
  requires(!detail::accepted<Why>)
std::ranges::borrowed_iterator_t<R> parallel_find(R&& range, const T& value, Projection proj = {},
                                                  const loop_options& options = {}) = delete;

/// Whether pred(proj(element)) holds for any element, as std::ranges::any_of: false for none at all.
///
/// Stops early. Any match gives the result, but an element left of it might throw, as in the serial program. So the
/// search goes on left of a match, unless pred and proj are noexcept. All else as parallel_find_if.
template <class It, class S, class Predicate, class Projection = std::identity>
  requires std::sentinel_for<S, It> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_search<It, Predicate, Projection>()>
[[nodiscard]] bool parallel_any_of(It first, S last, Predicate pred, Projection proj = {},
                                   const loop_options& options = {}) {
  const std::size_t n = detail::size_between(first, last);
  return detail::find_any(first, n, pred, proj, true, options);
}

template <class It, class S, class Predicate>
  requires std::sentinel_for<S, It> && detail::accepted<detail::why_not_search<It, Predicate, std::identity>()>
[[nodiscard]] bool parallel_any_of(It first, S last, Predicate pred, const loop_options& options) {
  return fj::parallel_any_of(first, last, std::move(pred), std::identity(), options);
}

template <class It, class S, class Predicate, class Projection = loop_options,
          class = detail::when<std::sentinel_for<S, It>>,
          auto Why = detail::why_not_search<It, Predicate, Projection>()>
  requires(!detail::accepted<Why>)
bool parallel_any_of(It first, S last, Predicate pred, Projection proj = {}, const loop_options& options = {}) = delete;

template <std::ranges::range R, class Predicate, class Projection = std::identity>
  requires detail::not_options<Projection> &&
           detail::accepted<detail::why_not_search<std::ranges::iterator_t<R>, Predicate, Projection>()>
[[nodiscard]] bool parallel_any_of(R&& range, Predicate pred, Projection proj = {}, const loop_options& options = {}) {
  return fj::parallel_any_of(std::ranges::begin(range), std::ranges::end(range), std::move(pred), std::move(proj),
                             options);
}

template <std::ranges::range R, class Predicate>
  requires detail::accepted<detail::why_not_search<std::ranges::iterator_t<R>, Predicate, std::identity>()>
[[nodiscard]] bool parallel_any_of(R&& range, Predicate pred, const loop_options& options) {
  return fj::parallel_any_of(std::forward<R>(range), std::move(pred), std::identity(), options);
}

template <std::ranges::range R, class Predicate, class Projection = loop_options,
          class = detail::when<!detail::array_end<Predicate>>,
          auto Why = detail::why_not_search<std::ranges::iterator_t<R>, Predicate, Projection>()>
  requires(!detail::accepted<Why>)
bool parallel_any_of(R&& range, Predicate pred, Projection proj = {}, const loop_options& options = {}) = delete;

/// Whether pred(proj(element)) holds for no element: !parallel_any_of, so true for none at all. Errors, cost and
/// options as there.
template <class It, class S, class Predicate, class Projection = std::identity>
  requires std::sentinel_for<S, It> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_search<It, Predicate, Projection>()>
[[nodiscard]] bool parallel_none_of(It first, S last, Predicate pred, Projection proj = {},
                                    const loop_options& options = {}) {
  const std::size_t n = detail::size_between(first, last);
  return !detail::find_any(first, n, pred, proj, true, options);
}

template <class It, class S, class Predicate>
  requires std::sentinel_for<S, It> && detail::accepted<detail::why_not_search<It, Predicate, std::identity>()>
[[nodiscard]] bool parallel_none_of(It first, S last, Predicate pred, const loop_options& options) {
  return fj::parallel_none_of(first, last, std::move(pred), std::identity(), options);
}

template <class It, class S, class Predicate, class Projection = loop_options,
          class = detail::when<std::sentinel_for<S, It>>,
          auto Why = detail::why_not_search<It, Predicate, Projection>()>
  requires(!detail::accepted<Why>)
bool parallel_none_of(It first, S last, Predicate pred, Projection proj = {},
                      const loop_options& options = {}) = delete;

template <std::ranges::range R, class Predicate, class Projection = std::identity>
  requires detail::not_options<Projection> &&
           detail::accepted<detail::why_not_search<std::ranges::iterator_t<R>, Predicate, Projection>()>
[[nodiscard]] bool parallel_none_of(R&& range, Predicate pred, Projection proj = {}, const loop_options& options = {}) {
  return fj::parallel_none_of(std::ranges::begin(range), std::ranges::end(range), std::move(pred), std::move(proj),
                              options);
}

template <std::ranges::range R, class Predicate>
  requires detail::accepted<detail::why_not_search<std::ranges::iterator_t<R>, Predicate, std::identity>()>
[[nodiscard]] bool parallel_none_of(R&& range, Predicate pred, const loop_options& options) {
  return fj::parallel_none_of(std::forward<R>(range), std::move(pred), std::identity(), options);
}

template <std::ranges::range R, class Predicate, class Projection = loop_options,
          class = detail::when<!detail::array_end<Predicate>>,
          auto Why = detail::why_not_search<std::ranges::iterator_t<R>, Predicate, Projection>()>
  requires(!detail::accepted<Why>)
bool parallel_none_of(R&& range, Predicate pred, Projection proj = {}, const loop_options& options = {}) = delete;

/// Whether pred(proj(element)) holds for all elements: true for none at all. Otherwise as parallel_any_of.
template <class It, class S, class Predicate, class Projection = std::identity>
  requires std::sentinel_for<S, It> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_search<It, Predicate, Projection>()>
[[nodiscard]] bool parallel_all_of(It first, S last, Predicate pred, Projection proj = {},
                                   const loop_options& options = {}) {
  const std::size_t n = detail::size_between(first, last);
  return !detail::find_any(first, n, pred, proj, false, options);
}

template <class It, class S, class Predicate>
  requires std::sentinel_for<S, It> && detail::accepted<detail::why_not_search<It, Predicate, std::identity>()>
[[nodiscard]] bool parallel_all_of(It first, S last, Predicate pred, const loop_options& options) {
  return fj::parallel_all_of(first, last, std::move(pred), std::identity(), options);
}

template <class It, class S, class Predicate, class Projection = loop_options,
          class = detail::when<std::sentinel_for<S, It>>,
          auto Why = detail::why_not_search<It, Predicate, Projection>()>
  requires(!detail::accepted<Why>)
bool parallel_all_of(It first, S last, Predicate pred, Projection proj = {}, const loop_options& options = {}) = delete;

template <std::ranges::range R, class Predicate, class Projection = std::identity>
  requires detail::not_options<Projection> &&
           detail::accepted<detail::why_not_search<std::ranges::iterator_t<R>, Predicate, Projection>()>
[[nodiscard]] bool parallel_all_of(R&& range, Predicate pred, Projection proj = {}, const loop_options& options = {}) {
  return fj::parallel_all_of(std::ranges::begin(range), std::ranges::end(range), std::move(pred), std::move(proj),
                             options);
}

template <std::ranges::range R, class Predicate>
  requires detail::accepted<detail::why_not_search<std::ranges::iterator_t<R>, Predicate, std::identity>()>
[[nodiscard]] bool parallel_all_of(R&& range, Predicate pred, const loop_options& options) {
  return fj::parallel_all_of(std::forward<R>(range), std::move(pred), std::identity(), options);
}

template <std::ranges::range R, class Predicate, class Projection = loop_options,
          class = detail::when<!detail::array_end<Predicate>>,
          auto Why = detail::why_not_search<std::ranges::iterator_t<R>, Predicate, Projection>()>
  requires(!detail::accepted<Why>)
bool parallel_all_of(R&& range, Predicate pred, Projection proj = {}, const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
