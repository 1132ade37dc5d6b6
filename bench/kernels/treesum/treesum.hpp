// The sum over an irregular tree of n nodes. If n is even, they lie in memory in the order in which the serial program
// visits them; if it is odd, in random order.
#pragma once

#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/common/random.hpp"
#include "bench/kernels/treesum/algorithm.hpp"

namespace bench::treesum {

inline constexpr long small[] = {20'000, 20'001};
inline constexpr long usual[] = {3'000'000, 1'000'001};
inline constexpr long large[] = {30'000'000, 3'000'001};

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
    .label = [](long n) -> std::string_view { return n % 2 == 0 ? "in order" : "shuffled"; },
};

/// The place in memory of each node, by its index in the serial program's order.
inline std::vector<std::size_t> places(std::size_t count) {
  std::vector<std::size_t> at(count);
  std::iota(at.begin(), at.end(), std::size_t{0});
  if (count % 2 == 0) return at;
  for (std::size_t i = count - 1; i > 0; --i) std::swap(at[i], at[random_at(i) % (i + 1)]);  // Fisher and Yates
  return at;
}

/// Makes a tree of the nodes with the indices [first, last): the root first, then the left subtree, then the right one;
/// each node's value is its index. The left subtree mostly has a small share of the nodes, or nearly all.
inline const node* grow(std::vector<node>& nodes, const std::vector<std::size_t>& at, std::size_t first,
                        std::size_t last) {
  if (first == last) return nullptr;
  const double u = uniform_at(first);
  const double share = random_at(~first) % 2 == 0 ? u * u * u : 1 - u * u * u;
  const std::size_t middle = first + 1 + static_cast<std::size_t>(share * static_cast<double>(last - first - 1));
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
