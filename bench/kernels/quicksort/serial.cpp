// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::quicksort {

namespace {

void sort(int* first, int* last) {
  if (last - first <= leaf_size) return insertion_sort(first, last);
  int* const middle = partition(first, last);
  sort(first, middle);
  sort(middle, last);
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  sort(numbers_.data(), numbers_.data() + numbers_.size());
}

}  // namespace bench::quicksort

BENCH_WAY(serial)
