// The sort of few elements, at the leaves of the sorts.
#pragma once

#include <iterator>
#include <utility>

#include "forkjoin/loops/elements.hpp"

namespace fj::inline v0_1::detail {

/// A place whose element was taken out, with that element. The destructor puts it into the place, so a comparator that
/// throws loses no element.
template <class I>
class hole {
 public:
  explicit hole(I from) : value(std::ranges::iter_move(from)), place_(from) {}
  ~hole() { *place_ = std::move(value); }
  hole(const hole&) = delete;
  hole& operator=(const hole&) = delete;

  /// Moves the element at `before` into the hole, which is there afterwards.
  void fill_from(I before) {
    *place_ = std::ranges::iter_move(before);
    place_ = before;
  }

  std::iter_value_t<I> value;

 private:
  I place_;
};

/// Sorts [first, last), stably.
template <class I, class Less>
void insertion_sort(I first, I last, Less less) {
  if (first == last) return;
  for (I next = first + 1; next != last; ++next) {
    if constexpr (moves_nothrow<I>) {
      if (!less(*next, *(next - 1))) continue;
      hole<I> one(next);
      I before = next - 1;
      one.fill_from(before);
      while (before != first && less(one.value, *(before - 1))) one.fill_from(--before);
    } else {
      for (I at = next; at != first && less(*at, *(at - 1)); --at) std::ranges::iter_swap(at, at - 1);
    }
  }
}

}  // namespace fj::inline v0_1::detail
