// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::fft {

namespace {

void transform(std::size_t n, const number* in, std::size_t stride, const number* roots, number* out) {
  if (n == leaf_size) return transform_leaf<leaf_size>(in, stride, roots, out);
  const std::size_t half = n / 2;
  transform(half, in, 2 * stride, roots, out);
  transform(half, in + stride, 2 * stride, roots, out + half);
  combine_leaf(0, half, half, roots + half, out);
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  transform(n_, in_.data(), 1, roots_.data(), out_.data());
}

}  // namespace bench::fft

BENCH_WAY(serial)
