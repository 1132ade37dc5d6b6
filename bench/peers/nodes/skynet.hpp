// A node of skynet whose ten children one join waits for. BENCH_NODE_WAY: the way, whose `each` forks the children.
#pragma once

#include <array>
#include <cstddef>

namespace bench::skynet {

template <>
inline long skynet<ways::BENCH_NODE_WAY>(long first, long leaves) {
  if (leaves == 1) return first;
  leaves /= 10;
  std::array<long, 10> sums;
  ways::BENCH_NODE_WAY::each(10, [&sums, first, leaves](int i) {
    sums[static_cast<std::size_t>(i)] = skynet<ways::BENCH_NODE_WAY>(first + i * leaves, leaves);
  });
  long sum = 0;
  for (const long s : sums) sum += s;
  return sum;
}

}  // namespace bench::skynet
