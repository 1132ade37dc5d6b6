// A node of uts: one join waits for all children. BENCH_NODE_WAY: the way, whose `each` forks the children. A node of a
// geometric tree has at most a hundred children; the root of a binomial one may have more, so these are in a vector.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace bench::uts {

template <>
tally visit<ways::BENCH_NODE_WAY>(const tree& t, const node& n);

inline tally visit_node(const tree& t, const node& n, std::span<tally> found) {
  ways::BENCH_NODE_WAY::each(static_cast<int>(found.size()), [&](int i) {
    found[static_cast<std::size_t>(i)] = visit<ways::BENCH_NODE_WAY>(t, n.child(i));
  });
  tally sum{1, 0, n.height};
  for (const tally& one : found) sum = sum + one;
  return sum;
}

template <>
inline tally visit<ways::BENCH_NODE_WAY>(const tree& t, const node& n) {
  const auto children = static_cast<std::size_t>(n.children(t));
  if (children == 0) return {1, 1, n.height};
  if (children <= 8) {
    std::array<tally, 8> found;
    return visit_node(t, n, {found.data(), children});
  }
  std::vector<tally> found(children);
  return visit_node(t, n, found);
}

}  // namespace bench::uts
