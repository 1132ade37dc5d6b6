// The merge of two sorted sequences.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <utility>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/elements.hpp"
#include "forkjoin/loops/merge_part.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/run.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

template <class C, class A, class B, class PA, class PB>
concept merges = projection_for<PA, A> && projection_for<PB, B> &&
                 std::indirect_strict_weak_order<C, std::projected<A, PA>, std::projected<B, PB>>;

template <class A, class B, class Out, class Compare, class ProjectionA, class ProjectionB>
consteval auto why_not_merge() {
  if constexpr (!std::random_access_iterator<A> || !std::random_access_iterator<B> ||
                !std::random_access_iterator<Out>) {
    return refusal(
        "no random access: the inputs and the output need random-access iterators, to begin in several places at once; "
        "give the output the room it needs instead of a std::back_inserter");
  } else if constexpr (!divisible_output<Out>) {
    return packed_elements;
  } else if constexpr (!std::indirectly_copyable<A, Out> || !std::indirectly_copyable<B, Out>) {
    return refusal("the output takes no such elements: those of both inputs must be assignable to it");
  } else if constexpr (!merges<Compare, A, B, ProjectionA, ProjectionB>) {
    return refusal(
        "the comparator does not fit: it must be callable with (projected) elements of both inputs in either order and "
        "return bool; without one, the elements need an operator<");
  } else {
    return not_refused;
  }
}

template <class A, class B, class Out, class Compare, class ProjectionA, class ProjectionB>
consteval auto why_not_merge_given() {
  return detail::why_not_merge<A, B, Out, given<Compare, std::less<>>, given<ProjectionA, std::identity>,
                               given<ProjectionB, std::identity>>();
}

}  // namespace detail

/// Merges two sequences, sorted by comp or else by operator<, into the one that begins at out, and returns its end, as
/// std::merge: stable, elements of the first sequence come before equal ones of the second. The output must not overlap
/// the inputs.
///
/// Several threads may call comp and the projections at the same time. Exceptions: the merge waits for all parts that
/// have started, and rethrows the leftmost exception; the output is then partly written. The same holds for
/// fj::cancelled, which the merge throws if options.stop was asked to stop before all parts had started. options.grain:
/// the number of elements that are merged without a fork; 0 for a few thousand. Outside a runtime the call enters the
/// default one.
///
/// Cost: at most n comparisons and O(log n) for each grain of elements; span O(log^2 n) beside the grain.
template <class I1, class S1, class I2, class S2, class Out, class Compare = std::less<>,
          class Projection1 = std::identity, class Projection2 = std::identity>
  requires std::sentinel_for<S1, I1> && std::sentinel_for<S2, I2> && detail::not_options<Compare> &&
           detail::not_options<Projection1> && detail::not_options<Projection2> &&
           detail::accepted<detail::why_not_merge<I1, I2, Out, Compare, Projection1, Projection2>()>
Out parallel_merge(I1 first1, S1 last1, I2 first2, S2 last2, Out out, Compare comp = {}, Projection1 proj1 = {},
                   Projection2 proj2 = {}, const loop_options& options = {}) {
  using ordering = detail::merge_ordering<Compare, Projection1, Projection2>;
  const I1 end1 = detail::end_between(first1, last1);
  const I2 end2 = detail::end_between(first2, last2);
  const detail::merge_plan<ordering> plan{ordering{std::addressof(comp), std::addressof(proj1), std::addressof(proj2)},
                                          options.grain ? options.grain : detail::merge_grain, options.stop};
  detail::merge_part<detail::copying, I1, I2, Out, ordering> whole(plan, first1, end1, first2, end2, out);
  fj::run(whole);
  using difference = std::iter_difference_t<Out>;
  return out + static_cast<difference>(end1 - first1) + static_cast<difference>(end2 - first2);
}

template <class I1, class S1, class I2, class S2, class Out, class Compare>
  requires std::sentinel_for<S1, I1> && std::sentinel_for<S2, I2> && detail::not_options<Compare> &&
           detail::accepted<detail::why_not_merge<I1, I2, Out, Compare, std::identity, std::identity>()>
Out parallel_merge(I1 first1, S1 last1, I2 first2, S2 last2, Out out, Compare comp, const loop_options& options) {
  return fj::parallel_merge(first1, last1, first2, last2, out, std::move(comp), std::identity(), std::identity(),
                            options);
}

template <class I1, class S1, class I2, class S2, class Out>
  requires std::sentinel_for<S1, I1> && std::sentinel_for<S2, I2> &&
           detail::accepted<detail::why_not_merge<I1, I2, Out, std::less<>, std::identity, std::identity>()>
Out parallel_merge(I1 first1, S1 last1, I2 first2, S2 last2, Out out, const loop_options& options) {
  return fj::parallel_merge(first1, last1, first2, last2, out, std::less<>(), options);
}

template <class I1, class S1, class I2, class S2, class Out, class Compare = loop_options,
          class Projection1 = loop_options, class Projection2 = loop_options,
          class = detail::when<std::sentinel_for<S1, I1> && std::sentinel_for<S2, I2>>,
          auto Why = detail::why_not_merge_given<I1, I2, Out, Compare, Projection1, Projection2>()>
  requires(!detail::accepted<Why>)
Out parallel_merge(I1 first1, S1 last1, I2 first2, S2 last2, Out out, Compare comp = {}, Projection1 proj1 = {},
                   Projection2 proj2 = {}, const loop_options& options = {}) = delete;

template <std::ranges::range R1, std::ranges::range R2, class Out, class Compare = std::less<>,
          class Projection1 = std::identity, class Projection2 = std::identity>
  requires detail::not_options<Compare> && detail::not_options<Projection1> && detail::not_options<Projection2> &&
           detail::accepted<detail::why_not_merge<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Out,
                                                  Compare, Projection1, Projection2>()>
Out parallel_merge(R1&& range1, R2&& range2, Out out, Compare comp = {}, Projection1 proj1 = {}, Projection2 proj2 = {},
                   const loop_options& options = {}) {
  return fj::parallel_merge(std::ranges::begin(range1), std::ranges::end(range1), std::ranges::begin(range2),
                            std::ranges::end(range2), out, std::move(comp), std::move(proj1), std::move(proj2),
                            options);
}

template <std::ranges::range R1, std::ranges::range R2, class Out, class Compare>
  requires detail::not_options<Compare> &&
           detail::accepted<detail::why_not_merge<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Out,
                                                  Compare, std::identity, std::identity>()>
Out parallel_merge(R1&& range1, R2&& range2, Out out, Compare comp, const loop_options& options) {
  return fj::parallel_merge(range1, range2, out, std::move(comp), std::identity(), std::identity(), options);
}

template <std::ranges::range R1, std::ranges::range R2, class Out>
  requires detail::accepted<detail::why_not_merge<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Out,
                                                  std::less<>, std::identity, std::identity>()>
Out parallel_merge(R1&& range1, R2&& range2, Out out, const loop_options& options) {
  return fj::parallel_merge(range1, range2, out, std::less<>(), options);
}

template <std::ranges::range R1, std::ranges::range R2, class Out, class Compare = loop_options,
          class Projection1 = loop_options, class Projection2 = loop_options,
          auto Why = detail::why_not_merge_given<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Out, Compare,
                                                 Projection1, Projection2>()>
  requires(!detail::accepted<Why>)
Out parallel_merge(R1&& range1, R2&& range2, Out out, Compare comp = {}, Projection1 proj1 = {}, Projection2 proj2 = {},
                   const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
