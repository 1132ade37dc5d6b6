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
#include "forkjoin/serial/observer.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// How an element gets from its sequence into the merged one. A transfer that relocates must bring over all elements,
/// in any order, even after an exception; so it does not throw itself.
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

/// What all parts of a merge share.
template <class Ordering>
struct merge_plan {
  Ordering order;
  std::size_t grain;
  const stop_token* stop;
};

/// A merge, or a part of one. It divides the larger sequence in the middle, the other one where the middle element
/// belongs, and merges both parts in parallel. A transfer that relocates has moved all elements when the part is
/// destroyed, merged or not.
template <class Transfer, class A, class B, class Out, class Ordering>
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
    if (na + nb <= std::max<std::size_t>(plan_.grain, 2))
      return serially();  // with three elements or more, neither part is empty
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
    fj::fork_join(left, right);
  }

 private:
  void serially() {
    // Local copies, which stores to elements cannot change.
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
          Transfer::put(from_b ? b : a, out);  // without a branch, which could not be predicted
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

inline constexpr std::size_t merge_grain = elements_a_strand(4096, 16);

}}}  // namespace fj::v0_4::detail
