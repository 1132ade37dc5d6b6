#pragma once

#include "detail/runtime.h"

#include <forkjoin/sort.hpp>

#include <functional>
#include <iterator>

namespace tbb {

template <class Iterator, class Compare>
void parallel_sort(Iterator first, Iterator last, const Compare& compare) {
  fj_detail::enter([&] {
    try {
      fj::parallel_sort(first, last, compare);
    } catch (...) {
      fj_detail::runtimes::all().may_end_at_exception();
      throw;
    }
  });
}
template <class Iterator>
  requires std::random_access_iterator<Iterator>
void parallel_sort(Iterator first, Iterator last) {
  tbb::parallel_sort(first, last, std::less<std::iter_value_t<Iterator>>());
}
template <class Range, class Compare>
  requires requires(Range& r) { std::begin(r); }
void parallel_sort(Range&& range, const Compare& compare) {
  tbb::parallel_sort(std::begin(range), std::end(range), compare);
}
template <class Range>
void parallel_sort(Range&& range) {
  tbb::parallel_sort(std::begin(range), std::end(range));
}

}  // namespace tbb
