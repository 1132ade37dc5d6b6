// Merging two sorted sequences.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <utility>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loops/algorithm.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/run.hpp"

namespace fj::inline v0_1 {

namespace detail {

/// How an element gets from its sequence into the merged one. Those that carry must bring all elements over, in any
/// order, whatever throws; so they do not throw themselves.
struct copying {
  static constexpr bool carries = false;
  template <class From, class To>
  static void put(From from, To to) {
    *to = *from;
  }
};

/// Whether an element of the second sequence comes before one of the first.
template <class Compare, class ProjectionA, class ProjectionB>
struct merge_ordering {
  Compare* comp;
  ProjectionA* proj_a;
  ProjectionB* proj_b;

  template <class B, class A>
  bool b_before_a(B&& b, A&& a) const {
    return static_cast<bool>(std::invoke(*comp, std::invoke(*proj_b, std::forward<B>(b)),  //
                                         std::invoke(*proj_a, std::forward<A>(a))));
  }
};

/// How to merge; the same for all parts.
template <class Ordering>
struct merge_plan {
  Ordering order;
  std::size_t grain;
  const stop_token* stop;
};

/// One merge to be done, or a part of one: the larger sequence is divided in the middle, the other where that element
/// belongs, and both parts are merged in parallel. What it carries is at its destination when it is destroyed at the
/// latest, merged or not.
template <class Policy, class How, class A, class B, class Out, class Ordering>
class merging {
  using difference_a = std::iter_difference_t<A>;
  using difference_b = std::iter_difference_t<B>;
  using difference_out = std::iter_difference_t<Out>;

 public:
  merging(const merge_plan<Ordering>& plan, A a, A a_end, B b, B b_end, Out out)
      : plan_(plan), a_(a), a_end_(a_end), b_(b), b_end_(b_end), out_(out) {}

  ~merging() {
    if constexpr (How::carries) put_rest();
  }

  merging(const merging&) = delete;
  merging& operator=(const merging&) = delete;

  void operator()() {
    const auto na = static_cast<std::size_t>(a_end_ - a_);
    const auto nb = static_cast<std::size_t>(b_end_ - b_);
    if (na + nb == 0) return;
    throw_if_stopped(plan_.stop);
    if (na + nb <= std::max<std::size_t>(plan_.grain, 2)) return serially();  // of three, either part gets one
    const Ordering& order = plan_.order;
    A a = a_;
    B b = b_;
    if (na >= nb) {
      a += static_cast<difference_a>(na / 2);
      b = std::ranges::partition_point(b_, b_end_, [&](auto&& x) { return order.b_before_a(x, *a); });
    } else {
      b += static_cast<difference_b>(nb / 2);
      a = std::ranges::partition_point(a_, a_end_, [&](auto&& x) { return !order.b_before_a(*b, x); });
    }
    const Out out = out_ + static_cast<difference_out>((a - a_) + (b - b_));
    merging left(plan_, a_, a, b_, b, out_);
    merging right(plan_, a, a_end_, b, b_end_, out);
    a_ = a_end_;
    b_ = b_end_;
    fj::fork_join<Policy>(left, right);
  }

 private:
  void serially() {
    // Locals, that stores to the elements cannot change.
    A a = a_;
    B b = b_;
    Out out = out_;
    const Ordering order = plan_.order;
    const auto remember = [&] {
      a_ = a;
      b_ = b;
      out_ = out;
    };
    try {
      while (a != a_end_ && b != b_end_) {
        const bool from_b = order.b_before_a(*b, *a);
        if constexpr (std::same_as<A, B> && plain<std::iter_value_t<A>>) {
          How::put(from_b ? b : a, out);  // no branch: which of the two cannot be predicted
          b += from_b;
          a += !from_b;
        } else if (from_b) {
          How::put(b, out);
          ++b;
        } else {
          How::put(a, out);
          ++a;
        }
        ++out;
      }
    } catch (...) {
      remember();
      throw;
    }
    remember();
    put_rest();
  }

  void put_rest() noexcept(How::carries) {
    for (; a_ != a_end_; ++a_, static_cast<void>(++out_)) How::put(a_, out_);
    for (; b_ != b_end_; ++b_, static_cast<void>(++out_)) How::put(b_, out_);
  }

  const merge_plan<Ordering>& plan_;
  A a_;
  const A a_end_;
  B b_;
  const B b_end_;
  Out out_;
};

inline constexpr std::size_t merge_grain = 4096;

template <class C, class A, class B, class PA, class PB>
concept merges = projects<PA, A> && projects<PB, B> &&
                 std::indirect_strict_weak_order<C, std::projected<A, PA>, std::projected<B, PB>>;

template <class A, class B, class Out, class Compare, class ProjectionA, class ProjectionB>
consteval auto why_not_merge() {
  if constexpr (!std::random_access_iterator<A> || !std::random_access_iterator<B> ||
                !std::random_access_iterator<Out>) {
    return refusal(
        "fj::parallel_merge: needs random-access iterators, for the output, too, to begin in several places at once; "
        "give "
        "it the room it needs instead of a std::back_inserter");
  } else if constexpr (!divisible_output<Out>) {
    return refusal(
        "fj::parallel_merge: neighbours in a std::vector<bool> cannot be written at the same time; use a "
        "std::vector<char>");
  } else if constexpr (!std::indirectly_copyable<A, Out> || !std::indirectly_copyable<B, Out>) {
    return refusal("fj::parallel_merge: elements of both inputs must be assignable to the output");
  } else if constexpr (!merges<Compare, A, B, ProjectionA, ProjectionB>) {
    return refusal(
        "fj::parallel_merge: the comparator must be callable with (projected) elements of both inputs in either order "
        "and "
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
/// std::merge: stable, elements of the first sequence come before equal ones of the second. The output must not overlap the inputs.
///
/// comp and the projections may be called at the same time on several threads. Exceptions: the leftmost is rethrown
/// after all that was started has ended; the output is then partly written. Likewise with fj::cancelled, if options.stop
/// was asked before all parts had started. options.grain: what is merged without forking, 0 for some thousand elements.
/// Outside of a runtime it enters the default one.
///
/// Cost: at most n comparisons and O(log n) for each grain of elements; span O(log^2 n) beside the grain.
template <class Policy = continuations, class I1, class S1, class I2, class S2, class Out, class Compare = std::less<>,
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
  detail::merging<Policy, detail::copying, I1, I2, Out, ordering> whole(plan, first1, end1, first2, end2, out);
  fj::run(whole);
  using difference = std::iter_difference_t<Out>;
  return out + static_cast<difference>(end1 - first1) + static_cast<difference>(end2 - first2);
}

template <class Policy = continuations, class I1, class S1, class I2, class S2, class Out, class Compare>
  requires std::sentinel_for<S1, I1> && std::sentinel_for<S2, I2> && detail::not_options<Compare> &&
           detail::accepted<detail::why_not_merge<I1, I2, Out, Compare, std::identity, std::identity>()>
Out parallel_merge(I1 first1, S1 last1, I2 first2, S2 last2, Out out, Compare comp, const loop_options& options) {
  return fj::parallel_merge<Policy>(first1, last1, first2, last2, out, std::move(comp), std::identity(),
                                    std::identity(), options);
}

template <class Policy = continuations, class I1, class S1, class I2, class S2, class Out>
  requires std::sentinel_for<S1, I1> && std::sentinel_for<S2, I2> &&
           detail::accepted<detail::why_not_merge<I1, I2, Out, std::less<>, std::identity, std::identity>()>
Out parallel_merge(I1 first1, S1 last1, I2 first2, S2 last2, Out out, const loop_options& options) {
  return fj::parallel_merge<Policy>(first1, last1, first2, last2, out, std::less<>(), options);
}

template <class Policy = continuations, class I1, class S1, class I2, class S2, class Out, class Compare = loop_options,
          class Projection1 = loop_options, class Projection2 = loop_options,
          class = detail::when<std::sentinel_for<S1, I1> && std::sentinel_for<S2, I2>>,
          auto Why = detail::why_not_merge_given<I1, I2, Out, Compare, Projection1, Projection2>()>
  requires(!detail::accepted<Why>)
Out parallel_merge(I1 first1, S1 last1, I2 first2, S2 last2, Out out, Compare comp = {}, Projection1 proj1 = {},
                   Projection2 proj2 = {}, const loop_options& options = {}) = delete;

template <class Policy = continuations, std::ranges::range R1, std::ranges::range R2, class Out,
          class Compare = std::less<>, class Projection1 = std::identity, class Projection2 = std::identity>
  requires detail::not_options<Compare> && detail::not_options<Projection1> && detail::not_options<Projection2> &&
           detail::accepted<detail::why_not_merge<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Out,
                                                  Compare, Projection1, Projection2>()>
Out parallel_merge(R1&& range1, R2&& range2, Out out, Compare comp = {}, Projection1 proj1 = {}, Projection2 proj2 = {},
                   const loop_options& options = {}) {
  return fj::parallel_merge<Policy>(std::ranges::begin(range1), std::ranges::end(range1), std::ranges::begin(range2),
                                    std::ranges::end(range2), out, std::move(comp), std::move(proj1), std::move(proj2),
                                    options);
}

template <class Policy = continuations, std::ranges::range R1, std::ranges::range R2, class Out, class Compare>
  requires detail::not_options<Compare> &&
           detail::accepted<detail::why_not_merge<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Out,
                                                  Compare, std::identity, std::identity>()>
Out parallel_merge(R1&& range1, R2&& range2, Out out, Compare comp, const loop_options& options) {
  return fj::parallel_merge<Policy>(range1, range2, out, std::move(comp), std::identity(), std::identity(), options);
}

template <class Policy = continuations, std::ranges::range R1, std::ranges::range R2, class Out>
  requires detail::accepted<detail::why_not_merge<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Out,
                                                  std::less<>, std::identity, std::identity>()>
Out parallel_merge(R1&& range1, R2&& range2, Out out, const loop_options& options) {
  return fj::parallel_merge<Policy>(range1, range2, out, std::less<>(), options);
}

template <class Policy = continuations, std::ranges::range R1, std::ranges::range R2, class Out,
          class Compare = loop_options, class Projection1 = loop_options, class Projection2 = loop_options,
          auto Why = detail::why_not_merge_given<std::ranges::iterator_t<R1>, std::ranges::iterator_t<R2>, Out, Compare,
                                                 Projection1, Projection2>()>
  requires(!detail::accepted<Why>)
Out parallel_merge(R1&& range1, R2&& range2, Out out, Compare comp = {}, Projection1 proj1 = {}, Projection2 proj2 = {},
                   const loop_options& options = {}) = delete;

}  // namespace fj::inline v0_1
