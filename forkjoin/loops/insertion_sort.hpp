// The sort of few elements, at the leaves of the sorts.
#pragma once

#include <iterator>
#include <utility>

#include "forkjoin/loops/elements.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A place whose element was taken out, with that element. The destructor puts it into the place, so a comparator that
/// throws loses no element.
template <class It>
class hole {
 public:
  explicit hole(It from) : value(std::ranges::iter_move(from)), place_(from) {}
  ~hole() { *place_ = std::move(value); }
  hole(const hole&) = delete;
  hole& operator=(const hole&) = delete;

  /// Moves the element at `before` into the hole, which is there afterwards.
  void fill_from(It before) {
    *place_ = std::ranges::iter_move(before);
    place_ = before;
  }

  std::iter_value_t<It> value;

 private:
  It place_;
};

/// Sorts [first, last), stably.
template <class It, class Less>
void insertion_sort(It first, It last, Less less) {
  if (first == last) return;
  for (It next = first + 1; next != last; ++next) {
    if constexpr (moves_nothrow<It>) {
      if (!less(*next, *(next - 1))) continue;
      hole<It> one(next);
      It before = next - 1;
      one.fill_from(before);
      while (before != first && less(one.value, *(before - 1))) one.fill_from(--before);
    } else {
      for (It at = next; at != first && less(*at, *(at - 1)); --at) std::ranges::iter_swap(at, at - 1);
    }
  }
}

}}}  // namespace fj::v0_4::detail
