// The smallest floor plan of n cells by branch and bound.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/common/random.hpp"
#include "bench/kernels/floorplan/algorithm.hpp"

namespace bench::floorplan {

inline constexpr long small[] = {5};
inline constexpr long usual[] = {11};
inline constexpr long large[] = {13};

/// The least areas of 1 cell, 2 cells and so on, found by another program, which marks a grid.
inline constexpr std::uint64_t areas[] = {2, 4, 24, 40, 44, 60, 80, 90, 100, 100, 130, 150, 165, 182};

inline std::uint64_t expected(long n) {
  if (n < 1 || n > std::ssize(areas)) {
    throw std::invalid_argument("floorplan: the size is from 1 to " + std::to_string(std::ssize(areas)));
  }
  return areas[n - 1];
}

inline constexpr kernel description{
    .name = "floorplan",
    .measured = {small, usual, large},
    .cut_off = false,
    .parallel = true,
    .expected = expected,
};

/// Each cell is beside one of the three before it.
inline std::vector<cell> cells_to_place(long count) {
  std::vector<cell> cells;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const auto dice = [i](std::uint64_t number) { return random_at(100 * i + number); };
    cell made{};
    for (std::size_t s = 0; s < shapes; ++s) {
      made.alternatives[s] = {.width = 1 + static_cast<int>(dice(2 * s) % 6),
                              .height = 1 + static_cast<int>(dice(2 * s + 1) % 6)};
    }
    made.neighbour = i == 0 ? 0 : i - 1 - dice(50) % std::min<std::size_t>(i, 3);
    made.below = dice(51) % 2 == 0;
    cells.push_back(made);
  }
  return cells;
}

template <class Way>
class problem {
 public:
  explicit problem(long size) : cells_(cells_to_place(size)) {}
  void run() { result_ = smallest_area<Way>(cells_); }
  std::uint64_t result() const { return static_cast<std::uint64_t>(result_); }

 private:
  std::vector<cell> cells_;
  int result_ = 0;
};

}  // namespace bench::floorplan
