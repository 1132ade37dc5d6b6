// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::mandelbrot {

template <>
void problem<ways::serial>::run() {
  std::int32_t* const out = counts_.data();
  for (long row = 0; row < picture_.size; ++row) draw_row(picture_, row, out + row * picture_.size);
}

}  // namespace bench::mandelbrot

BENCH_WAY(serial)
