// Breadth-first search in a generated graph of n vertices with ten neighbours each on average.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/bfs/algorithm.hpp"

namespace bench::bfs {

inline constexpr long small[] = {1, 3000};
inline constexpr long usual[] = {200'000};
inline constexpr long large[] = {5'000'000};

inline constexpr kernel description{
    .name = "bfs",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = false,
    .expected = [](long n) -> std::uint64_t {
      if (n < 1 || n > 100'000'000) throw std::invalid_argument("bfs: the size is from 1 to 100,000,000");
      return static_cast<std::uint64_t>(n);  // the number of right distances
    },
    .over_loops = true,
};

template <class Way>
class problem {
 public:
  explicit problem(long size)
      : graph_(size),
        parent_(places()),
        distance_(places()),
        frontier_(places()),
        degrees_(places()),
        places_(places()),
        reached_(static_cast<std::size_t>(graph_.begins()[size])) {}

  void run() {
    if constexpr (Way::is_serial) {
      search_serially(graph_, 0, parent_.data(), distance_.data(), frontier_.data());
    } else {
      search<Way>(graph_, 0, parent_.data(), distance_.data(),
                  {frontier_.data(), degrees_.data(), places_.data(), reached_.data()});
    }
  }

  std::uint64_t result() const {
    std::vector<int> parent(places()), distance(places()), queue(places());
    search_serially(graph_, 0, parent.data(), distance.data(), queue.data());
    std::uint64_t right = 0;
    for (std::size_t v = 0; v != places(); ++v) right += distance_[v] == distance[v] && is_parent(v, distance);
    return right;
  }

 private:
  std::size_t places() const { return static_cast<std::size_t>(graph_.vertices()); }

  bool is_parent(std::size_t v, const std::vector<int>& distance) const {
    if (distance[v] <= 0) return true;
    if (parent_[v] < 0 || distance[static_cast<std::size_t>(parent_[v])] != distance[v] - 1) return false;
    for (const int other : graph_.neighbours_of(static_cast<int>(v)))
      if (other == parent_[v]) return true;
    return false;
  }

  graph graph_;
  std::vector<int> parent_, distance_, frontier_, degrees_, places_, reached_;
};

}  // namespace bench::bfs
