// The serial program, written by hand. It needs one plan, not a copy for every branch.
#include <algorithm>

#include "bench/harness/problem.hpp"
#include "bench/harness/ways/serial.hpp"

namespace bench::floorplan {

namespace {

void search(const std::vector<cell>& cells, std::size_t index, plan& so_far, int& least) {
  if (index == cells.size()) {
    least = std::min(least, so_far.area());
    return;
  }
  const int width = so_far.width;
  const int height = so_far.height;
  const long count = places(cells[index], so_far);
  for (long number = 0; number < count; ++number) {
    rectangle at;
    int with_width, with_height;
    if (!place(cells[index], index, number, so_far, at, with_width, with_height)) continue;
    if (with_width * with_height >= least) continue;
    so_far.placed[index] = at;
    so_far.width = with_width;
    so_far.height = with_height;
    search(cells, index + 1, so_far, least);
    so_far.width = width;
    so_far.height = height;
  }
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  result_ = 1 << 30;
  for (const shape& s : cells_[0].alternatives) {
    plan begun = first_plan(s);
    search(cells_, 1, begun, result_);
  }
}

}  // namespace bench::floorplan

BENCH_WAY(serial)
