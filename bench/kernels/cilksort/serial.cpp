// The serial program, written by hand.
#include <algorithm>
#include <utility>

#include "bench/harness/problem.hpp"
#include "bench/harness/ways/serial.hpp"

namespace bench::cilksort {

namespace {

void merge(const int* a, const int* a_end, const int* b, const int* b_end, int* out) {
  if (a_end - a < b_end - b) {
    std::swap(a, b);
    std::swap(a_end, b_end);
  }
  if ((a_end - a) + (b_end - b) <= leaf_size) {
    std::merge(a, a_end, b, b_end, out);
    return;
  }
  const int* const a_middle = a + (a_end - a) / 2;
  const int* const b_middle = std::lower_bound(b, b_end, *a_middle);
  merge(a, a_middle, b, b_middle, out);
  merge(a_middle, a_end, b_middle, b_end, out + (a_middle - a) + (b_middle - b));
}

void sort(int* data, int* spare, std::ptrdiff_t n) {
  if (n <= leaf_size) return std::sort(data, data + n);
  const std::ptrdiff_t quarter = n / 4;
  int* const b = data + quarter;
  int* const c = b + quarter;
  int* const d = c + quarter;
  int* const end = data + n;
  int* const spare_middle = spare + 2 * quarter;
  sort(data, spare, quarter);
  sort(b, spare + quarter, quarter);
  sort(c, spare_middle, quarter);
  sort(d, spare_middle + quarter, end - d);
  merge(data, b, b, c, spare);
  merge(c, d, d, end, spare_middle);
  merge(spare, spare_middle, spare_middle, spare + n, data);
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  sort(numbers_.data(), spare_.data(), std::ssize(numbers_));
}

}  // namespace bench::cilksort

BENCH_WAY(serial)
