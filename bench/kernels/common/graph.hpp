// An undirected graph of so many vertices, generated: half of the edges go to vertices nearby, half anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bench/kernels/common/random.hpp"

namespace bench {

class graph {
 public:
  explicit graph(long vertices) : begins_(static_cast<std::size_t>(vertices) + 1) {
    const auto n = static_cast<std::uint64_t>(vertices);
    std::vector<std::pair<int, int>> edges;
    for (std::uint64_t v = 0; v != n; ++v) {
      for (std::uint64_t k = 0; k != edges_each; ++k) {
        const std::uint64_t dice = random_at(v * edges_each + k);
        const std::uint64_t other = k % 2 == 0 ? dice % n : (v + 1 + dice % 64) % n;
        if (other != v) edges.emplace_back(static_cast<int>(v), static_cast<int>(other));
      }
    }
    for (const auto& [a, b] : edges) {
      ++begins_[static_cast<std::size_t>(a) + 1];
      ++begins_[static_cast<std::size_t>(b) + 1];
    }
    for (std::size_t v = 1; v != begins_.size(); ++v) begins_[v] += begins_[v - 1];
    ends_.resize(static_cast<std::size_t>(begins_.back()));
    std::vector<int> at(begins_.begin(), begins_.end() - 1);
    for (const auto& [a, b] : edges) {
      ends_[static_cast<std::size_t>(at[static_cast<std::size_t>(a)]++)] = b;
      ends_[static_cast<std::size_t>(at[static_cast<std::size_t>(b)]++)] = a;
    }
  }

  long vertices() const { return static_cast<long>(begins_.size()) - 1; }
  /// The neighbours of v are neighbours()[begins()[v]] to neighbours()[begins()[v + 1] - 1].
  const int* begins() const { return begins_.data(); }
  const int* neighbours() const { return ends_.data(); }
  std::span<const int> neighbours_of(int v) const {
    return {ends_.data() + begins_[static_cast<std::size_t>(v)],
            ends_.data() + begins_[static_cast<std::size_t>(v) + 1]};
  }

 private:
  static constexpr std::uint64_t edges_each = 5;

  std::vector<int> begins_;
  std::vector<int> ends_;
};

}  // namespace bench
