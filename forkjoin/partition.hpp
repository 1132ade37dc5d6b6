// A partition: elements that match come before those that do not.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <cstddef>
#include <functional>
#include <ranges>
#include <utility>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/elements.hpp"
#include "forkjoin/loops/partitioning.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/run.hpp"

namespace fj { inline namespace v0_4 {

/// Puts the elements for which pred(proj(element)) holds before the others and returns where the others begin, as
/// std::partition. In place. The order within each group is unspecified, and may differ from call to call.
///
/// Several threads may call pred and proj at the same time, once for each element. Exceptions: the partition waits for
/// all parts that have started, and rethrows the leftmost exception. The elements are then in an unspecified order;
/// none is lost unless a swap threw. The same holds for fj::cancelled, which is thrown if options.stop was asked to
/// stop before all parts had started. options.grain: the number of elements of a part; 0 for a few parts for each P.
/// Outside a runtime the call enters the default one.
///
/// Cost: linear work for each P; where there are more parts than one, up to n/4 swaps for each doubling of their
/// number.
template <class It, class S, class Predicate, class Projection = std::identity>
  requires std::sentinel_for<S, It> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_partition<It, Predicate, Projection>()>
It parallel_partition(It first, S last, Predicate pred, Projection proj = {}, const loop_options& options = {}) {
  const It end = detail::end_between(first, last);
  const auto test = [&](auto&& element) {
    return static_cast<bool>(std::invoke(pred, std::invoke(proj, std::forward<decltype(element)>(element))));
  };
  return run([&] {
    const auto n = static_cast<std::size_t>(end - first);
    const std::size_t grain = options.grain ? options.grain : detail::partition_grain(n);
    return detail::partition(first, end, test, detail::as_difference<It>(grain), options.stop);
  });
}

template <class It, class S, class Predicate>
  requires std::sentinel_for<S, It> && detail::accepted<detail::why_not_partition<It, Predicate, std::identity>()>
It parallel_partition(It first, S last, Predicate pred, const loop_options& options) {
  return fj::parallel_partition(first, last, std::move(pred), std::identity(), options);
}

template <class It, class S, class Predicate, class Projection = loop_options,
          class = detail::when<std::sentinel_for<S, It>>,
          auto Why = detail::why_not_partition<It, Predicate, detail::given<Projection, std::identity>>()>
  requires(!detail::accepted<Why>)
It parallel_partition(It first, S last, Predicate pred, Projection proj = {},
                      const loop_options& options = {}) = delete;

template <std::ranges::range R, class Predicate, class Projection = std::identity>
  requires detail::not_options<Projection> &&
           detail::accepted<detail::why_not_partition<std::ranges::iterator_t<R>, Predicate, Projection>()>
std::ranges::borrowed_iterator_t<R> parallel_partition(R&& range, Predicate pred, Projection proj = {},
                                                       const loop_options& options = {}) {
  return fj::parallel_partition(std::ranges::begin(range), std::ranges::end(range), std::move(pred), std::move(proj),
                                options);
}

template <std::ranges::range R, class Predicate>
  requires detail::accepted<detail::why_not_partition<std::ranges::iterator_t<R>, Predicate, std::identity>()>
std::ranges::borrowed_iterator_t<R> parallel_partition(R&& range, Predicate pred, const loop_options& options) {
  return fj::parallel_partition(std::forward<R>(range), std::move(pred), std::identity(), options);
}

template <std::ranges::range R, class Predicate, class Projection = loop_options,
          class = detail::when<!detail::array_end<Predicate>>,
          auto Why = detail::why_not_partition<std::ranges::iterator_t<R>, Predicate,
                                               detail::given<Projection, std::identity>>()>
  requires(!detail::accepted<Why>)
std::ranges::borrowed_iterator_t<R> parallel_partition(R&& range, Predicate pred, Projection proj = {},
                                                       const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
