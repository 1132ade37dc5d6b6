// The sum over an irregular tree of n nodes. If n is even, they lie in memory in the order in which the serial program
// visits them. If n is odd they do not: in the order of a program that visits the right child first (mirrored) if n + 1
// is divisible by 4, else in random order. Of two programs that visit the children in another order, the first tree
// favours one and the second the other.
#pragma once

#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/common/random.hpp"
#include "bench/kernels/treesum/algorithm.hpp"

namespace bench::treesum {

enum class layout { in_order, mirrored, shuffled };

constexpr layout layout_of(long n) {
  return n % 2 == 0 ? layout::in_order : n % 4 == 3 ? layout::mirrored : layout::shuffled;
}

inline constexpr long small[] = {20'000, 20'003, 20'001};
inline constexpr long usual[] = {3'000'000, 3'000'003, 1'000'001};
inline constexpr long large[] = {30'000'000, 30'000'003, 3'000'001};

inline constexpr kernel description{
    .name = "treesum",
    .measured = {small, usual, large},
    .cut_off = false,
    .parallel = true,
    .expected =
        [](long n) {
          if (n < 1) throw std::invalid_argument("treesum: the size is from 1 up");
          return static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(n - 1) / 2;
        },
    .forks = [](long n) { return static_cast<std::uint64_t>(n); },
    .label = [](long n) -> std::string_view {
      const layout of = layout_of(n);
      return of == layout::in_order ? "in order" : of == layout::mirrored ? "mirrored" : "shuffled";
    },
};

/// Where the right subtree begins of the tree of the nodes [first, last). The left one mostly has a small share of the
/// nodes, or nearly all.
inline std::size_t right_of(std::size_t first, std::size_t last) {
  const double u = uniform_at(first);
  const double share = random_at(~first) % 2 == 0 ? u * u * u : 1 - u * u * u;
  return first + 1 + static_cast<std::size_t>(share * static_cast<double>(last - first - 1));
}

/// Puts the nodes [first, last) at `place` and after it, the right subtree before the left one.
inline void mirror(std::vector<std::size_t>& at, std::size_t first, std::size_t last, std::size_t place) {
  if (first == last) return;
  at[first] = place;
  const std::size_t right = right_of(first, last);
  mirror(at, right, last, place + 1);
  mirror(at, first + 1, right, place + 1 + (last - right));
}

/// The place in memory of each node, by its index in the serial program's order.
inline std::vector<std::size_t> places(std::size_t count) {
  std::vector<std::size_t> at(count);
  std::iota(at.begin(), at.end(), std::size_t{0});
  const layout of = layout_of(static_cast<long>(count));
  if (of == layout::mirrored) mirror(at, 0, count, 0);
  if (of == layout::shuffled)
    for (std::size_t i = count - 1; i > 0; --i) std::swap(at[i], at[random_at(i) % (i + 1)]);  // Fisher and Yates
  return at;
}

/// Makes a tree of the nodes with the indices [first, last): the root first, then the left subtree, then the right one;
/// each node's value is its index.
inline const node* grow(std::vector<node>& nodes, const std::vector<std::size_t>& at, std::size_t first,
                        std::size_t last) {
  if (first == last) return nullptr;
  const std::size_t middle = right_of(first, last);
  nodes[at[first]] = {grow(nodes, at, first + 1, middle), grow(nodes, at, middle, last), static_cast<long>(first)};
  return &nodes[at[first]];
}

template <class Way>
class problem {
 public:
  explicit problem(long size)
      : nodes_(static_cast<std::size_t>(size)), root_(grow(nodes_, places(nodes_.size()), 0, nodes_.size())) {}
  void run() { result_ = sum<Way>(root_); }
  std::uint64_t result() const { return static_cast<std::uint64_t>(result_); }

 private:
  std::vector<node> nodes_;
  const node* root_;
  long result_ = 0;
};

}  // namespace bench::treesum
