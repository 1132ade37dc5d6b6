// A maximal independent set of a generated graph of n vertices with ten neighbours each on average.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/mis/algorithm.hpp"

namespace bench::mis {

inline constexpr long small[] = {1, 3000};
inline constexpr long usual[] = {200'000};
inline constexpr long large[] = {5'000'000};

inline constexpr kernel description{
    .name = "mis",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = false,
    .expected = [](long n) -> std::uint64_t {
      if (n < 1 || n > 100'000'000) throw std::invalid_argument("mis: the size is from 1 to 100,000,000");
      return static_cast<std::uint64_t>(n);  // the number of vertices that are rightly in or out
    },
    .over_loops = true,
};

template <class Way>
class problem {
 public:
  explicit problem(long size)
      : graph_(size), states_(places()), left_(places()), next_(places()), by_priority_(places()) {
    std::iota(by_priority_.begin(), by_priority_.end(), 0);
    std::sort(by_priority_.begin(), by_priority_.end(), before);
  }

  void run() {
    if constexpr (Way::is_serial) {
      find_serially(graph_, by_priority_.data(), states_.data());
    } else {
      find<Way>(graph_, states_.data(), left_.data(), next_.data());
    }
  }

  std::uint64_t result() const {
    std::vector<state> right(places());
    find_serially(graph_, by_priority_.data(), right.data());
    std::uint64_t same = 0;
    for (std::size_t v = 0; v != places(); ++v) same += states_[v] == right[v];
    return same;
  }

 private:
  std::size_t places() const { return static_cast<std::size_t>(graph_.vertices()); }

  graph graph_;
  std::vector<state> states_;
  std::vector<int> left_, next_, by_priority_;
};

}  // namespace bench::mis
