// Merging two sorted sequences in parallel: what merge and stable_sort run on.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/loops/elements.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/stop.hpp"

namespace fj::inline v0_1::detail {

/// How an element gets from its sequence into the merged one. Those that carry must bring all elements over, in any
/// order, whatever throws; so they do not throw themselves.
struct copying {
  static constexpr bool relocates = false;
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
template <class Policy, class Transfer, class A, class B, class Out, class Ordering>
class merge_part {
  using difference_a = std::iter_difference_t<A>;
  using difference_b = std::iter_difference_t<B>;
  using difference_out = std::iter_difference_t<Out>;

 public:
  merge_part(const merge_plan<Ordering>& plan, A a, A a_end, B b, B b_end, Out out)
      : plan_(plan), a_(a), a_end_(a_end), b_(b), b_end_(b_end), out_(out) {}

  ~merge_part() {
    if constexpr (Transfer::relocates) put_rest();
  }

  merge_part(const merge_part&) = delete;
  merge_part& operator=(const merge_part&) = delete;

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
    merge_part left(plan_, a_, a, b_, b, out_);
    merge_part right(plan_, a, a_end_, b, b_end_, out);
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
    const auto store_positions = [&] {
      a_ = a;
      b_ = b;
      out_ = out;
    };
    try {
      while (a != a_end_ && b != b_end_) {
        const bool from_b = order.b_before_a(*b, *a);
        if constexpr (std::same_as<A, B> && cheaply_copied<std::iter_value_t<A>>) {
          Transfer::put(from_b ? b : a, out);  // no branch: which of the two cannot be predicted
          b += from_b;
          a += !from_b;
        } else if (from_b) {
          Transfer::put(b, out);
          ++b;
        } else {
          Transfer::put(a, out);
          ++a;
        }
        ++out;
      }
    } catch (...) {
      store_positions();
      throw;
    }
    store_positions();
    put_rest();
  }

  void put_rest() noexcept(Transfer::relocates) {
    for (; a_ != a_end_; ++a_, static_cast<void>(++out_)) Transfer::put(a_, out_);
    for (; b_ != b_end_; ++b_, static_cast<void>(++out_)) Transfer::put(b_, out_);
  }

  const merge_plan<Ordering>& plan_;
  A a_;
  const A a_end_;
  B b_;
  const B b_end_;
  Out out_;
};

inline constexpr std::size_t merge_grain = 4096;

}  // namespace fj::inline v0_1::detail
