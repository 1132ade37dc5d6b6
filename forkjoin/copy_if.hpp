// A copy of the elements that match.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/elements.hpp"
#include "forkjoin/loops/filter.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/run.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

template <class It, class Out, class Predicate, class Projection>
consteval auto why_not_copy_if() {
  if constexpr (!std::random_access_iterator<It> || !std::random_access_iterator<Out>) {
    return refusal(
        "no random access: the input and the output need random-access iterators, to begin in several places at once; "
        "give the output the room it needs instead of a std::back_inserter");
  } else if constexpr (!divisible_output<Out>) {
    return packed_elements;
  } else if constexpr (!std::indirectly_copyable<It, Out>) {
    return refusal("the output takes no such elements: those of the input must be assignable to it");
  } else if constexpr (!predicate_for<Predicate, It, Projection>) {
    return unfit_predicate;
  } else {
    return not_refused;
  }
}

}  // namespace detail

/// Copies the elements for which pred(proj(element)) holds to the sequence that begins at out, in their order, and
/// returns its end, as std::ranges::copy_if. The output needs room only for these elements, and must not overlap the
/// input.
///
/// Several threads may call pred and proj at the same time, once for each element. All these calls come before the
/// first copy. Exceptions: the call waits for all parts that have started. Then it rethrows the leftmost exception of
/// pred and proj, or else the leftmost exception of a copy. fj::cancelled if options.stop was asked to stop before all
/// parts had started. In both cases the output may be partly written. std::bad_alloc if there is no memory for the
/// marks; then nothing has been called. options.grain: the number of elements that are processed without a fork,
/// rounded up to a multiple of 64; 0 for a few thousand. Outside a runtime the call enters the default one.
///
/// Cost: two passes over the elements, and memory of a bit for each; span O(n / grain).
template <class It, class S, class Out, class Predicate, class Projection = std::identity>
  requires std::sentinel_for<S, It> && detail::like_iterator<Out> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_copy_if<It, Out, Predicate, Projection>()>
Out parallel_copy_if(It first, S last, Out out, Predicate pred, Projection proj = {},
                     const loop_options& options = {}) {
  const std::size_t n = detail::size_between(first, last);
  const auto test = [&](auto&& element) {
    return static_cast<bool>(std::invoke(pred, std::invoke(proj, std::forward<decltype(element)>(element))));
  };
  return run([&] {
    detail::filter<It> marks(first, n, options.grain ? options.grain : detail::filter_grain, options.stop);
    const std::size_t matches = marks.mark(test);
    marks.copy_to(out);
    return out + static_cast<std::iter_difference_t<Out>>(matches);
  });
}

template <class It, class S, class Out, class Predicate>
  requires std::sentinel_for<S, It> && detail::like_iterator<Out> &&
           detail::accepted<detail::why_not_copy_if<It, Out, Predicate, std::identity>()>
Out parallel_copy_if(It first, S last, Out out, Predicate pred, const loop_options& options) {
  return fj::parallel_copy_if(first, last, out, std::move(pred), std::identity(), options);
}

template <class It, class S, class Out, class Predicate, class Projection = loop_options,
          class = detail::when<std::sentinel_for<S, It> && detail::like_iterator<Out>>,
          auto Why = detail::why_not_copy_if<It, Out, Predicate, detail::given<Projection, std::identity>>()>
  requires(!detail::accepted<Why>)
Out parallel_copy_if(It first, S last, Out out, Predicate pred, Projection proj = {},
                     const loop_options& options = {}) = delete;

template <std::ranges::range R, class Out, class Predicate, class Projection = std::identity>
  requires detail::not_options<Projection> &&
           detail::accepted<detail::why_not_copy_if<std::ranges::iterator_t<R>, Out, Predicate, Projection>()>
Out parallel_copy_if(R&& range, Out out, Predicate pred, Projection proj = {}, const loop_options& options = {}) {
  return fj::parallel_copy_if(std::ranges::begin(range), std::ranges::end(range), out, std::move(pred), std::move(proj),
                              options);
}

template <std::ranges::range R, class Out, class Predicate>
  requires detail::accepted<detail::why_not_copy_if<std::ranges::iterator_t<R>, Out, Predicate, std::identity>()>
Out parallel_copy_if(R&& range, Out out, Predicate pred, const loop_options& options) {
  return fj::parallel_copy_if(std::forward<R>(range), out, std::move(pred), std::identity(), options);
}

template <std::ranges::range R, class Out, class Predicate, class Projection = loop_options,
          class = detail::when<!detail::array_end<Predicate>>,
          auto Why = detail::why_not_copy_if<std::ranges::iterator_t<R>, Out, Predicate,
                                             detail::given<Projection, std::identity>>()>
  requires(!detail::accepted<Why>)
Out parallel_copy_if(R&& range, Out out, Predicate pred, Projection proj = {},
                     const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
