// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::health {

namespace {

void simulate_day(village& v) {
  for (village& lower : v.below) simulate_day(lower);
  live(v);
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  for (long day = 0; day < days_; ++day) simulate_day(*top_);
}

}  // namespace bench::health

BENCH_WAY(serial)
