// Unbalanced Tree Search (Olivier et al., LCPC 2006): counts the nodes of a tree that exists only as a rule: the SHA-1
// digest of a node gives the number of its children and their digests. A fork for every child but a node's last.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench/harness/kernel.hpp"
#include "bench/harness/work.hpp"
#include "bench/kernels/uts/sha1.hpp"

namespace bench::uts {

struct tree {
  std::string_view name;
  long nodes;  // the size by which a user chooses this tree
  int depth;
  long leaves;

  std::uint32_t seed;
  double root_children;  // in geometric trees the mean at every node above max_depth
  int max_depth;         // 0: binomial
  double probability;    // binomial: of a node having `children` children; else it has none
  int children;
};

// Binomial trees have long thin branches, these geometric trees a bounded depth. The last four are those of the
// literature.
inline constexpr tree trees[] = {
    {"small_geometric", 3'987, 5, 3'232, 19, 4.0, 5, 0, 0},
    {"small_binomial", 6'499, 67, 5'692, 42, 50.0, 0, 0.124, 8},
    {"T1", 4'130'071, 10, 3'305'118, 19, 4.0, 10, 0, 0},
    {"T3", 4'112'897, 1'572, 3'599'034, 42, 2'000.0, 0, 0.124875, 8},
    {"T1L", 102'181'082, 13, 81'746'377, 29, 4.0, 13, 0, 0},
    {"T3L", 111'345'631, 17'844, 89'076'904, 7, 2'000.0, 0, 0.200014, 5},
};
constexpr long small[] = {trees[0].nodes, trees[1].nodes};
constexpr long usual[] = {trees[2].nodes};
constexpr long large[] = {trees[3].nodes, trees[4].nodes, trees[5].nodes};

constexpr const tree& tree_of(long nodes) {
  for (const tree& t : trees) {
    if (t.nodes == nodes) return t;
  }
  throw std::invalid_argument(
      "uts: the size is the number of nodes of a known tree: 4130071 (T1), 4112897 (T3), 102181082 (T1L), 111345631 "
      "(T3L)");
}

struct tally {
  long nodes = 0;
  long leaves = 0;
  int depth = 0;

  tally operator+(const tally& other) const {
    return {nodes + other.nodes, leaves + other.leaves, std::max(depth, other.depth)};
  }
  // A digest of all bits of nodes and leaves, and the last eight bits of the depth.
  constexpr std::uint64_t digest() const {
    return static_cast<std::uint64_t>(nodes) + (static_cast<std::uint64_t>(leaves) << 28) +
           (static_cast<std::uint64_t>(depth) << 56);
  }
};

inline constexpr kernel description{
    .name = "uts",
    .measured = {small, usual, large},
    .cut_off = false,
    .parallel = true,
    .expected =
        [](long nodes) {
          const tree& t = tree_of(nodes);
          return tally{t.nodes, t.leaves, t.depth}.digest();
        },
    .label = [](long nodes) { return tree_of(nodes).name; },
    .stack_size = std::size_t{256} << 20,
};

struct node {
  sha1_digest state;
  int height;

  static node root(const tree& t) { return {sha1(std::array<std::uint32_t, 5>{0, 0, 0, 0, t.seed}), 0}; }

  node child(int index) const {
    return {sha1(std::array<std::uint32_t, 6>{state[0], state[1], state[2], state[3], state[4],
                                              static_cast<std::uint32_t>(index)}),
            height + 1};
  }

  int children(const tree& t) const {
    const double uniform = (state[4] & 0x7fffffff) / 2147483648.0;
    if (t.max_depth == 0) {
      if (height == 0) return static_cast<int>(t.root_children);
      return uniform < t.probability ? t.children : 0;
    }
    if (height >= t.max_depth) return 0;
    const double none = 1 / (1 + t.root_children);
    return std::min(static_cast<int>(std::log(1 - uniform) / std::log(1 - none)), 100);
  }
};

template <class Way>
tally visit(const tree& t, const node& n) {
  if constexpr (counts_work<Way>) Way::work(unit::uts_sha1, 1);  // the digest of the node
  const int children = n.children(t);
  if (children == 0) return {1, 1, n.height};
  return Way::children(children, tally{1, 0, n.height}, [&t, &n](int i) { return visit<Way>(t, n.child(i)); });
}

template <class Way>
class problem {
 public:
  explicit problem(long size) : tree_(tree_of(size)) {}
  void run() { result_ = visit<Way>(tree_, node::root(tree_)); }
  std::uint64_t result() const { return result_.digest(); }

 private:
  const tree& tree_;
  tally result_;
};

}  // namespace bench::uts
