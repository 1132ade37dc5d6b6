#include <cmath>
#include <stdexcept>
#include <string>

#include "bench/simulate/kernel.hpp"

namespace simulate {

// In the order of bench::unit.
units::units()
    : all_{
          {"fib.call", 0.7, "a call of fib, its share of the additions"},
          {"integrate.call", 3, "a call of integrate: a midpoint, a polynomial, a comparison"},
          {"skynet.call", 1, "a node or leaf of skynet"},
          {"treesum.node", 5, "a node of the tree: its pointers and its value, out of the cache"},
          {"nqueens.place", 3, "a queen placed, and the free columns of the next row found"},
          {"knapsack.node", 4, "an item considered and its bound"},
          {"uts.sha1", 120, "a node: the SHA-1 that makes it, and its number of children"},
          {"matmul.flop", 0.12, "a multiplication and addition in a block that is in the cache"},
          {"matrix.add", 0.4, "an addition of two elements of matrices that are not"},
          {"sort.compare", 3, "n log2 n times: sorting n elements serially"},
          {"sort.partition", 1.2, "an element partitioned"},
          {"sort.merge", 1.5, "an element merged serially"},
          {"heat.cell", 0.5, "a cell, a time step"},
          {"fft.butterfly", 2, "a butterfly"},
          {"mandelbrot.iteration", 1.8, "an iteration of a pixel"},
          {"alignment.cell", 1.2, "a pair of residues in the table of two proteins"},
          {"floorplan.place", 6, "a place of a cell tried"},
          {"health.person", 5, "a day of a person"},
          {"tree.leaf", 1e6, "a leaf of the trees of bench/virtual"},
      } {}

void units::set(std::string_view name, double nanoseconds) {
  if (!std::isfinite(nanoseconds) || nanoseconds < 0 || nanoseconds > 1e9)
    throw std::invalid_argument("the work " + std::string(name) + " is " + std::to_string(nanoseconds) +
                                " ns; set it to a number from 0 to 1e9");
  for (unit& u : all_) {
    if (u.name != name) continue;
    u.nanoseconds = nanoseconds;
    return;
  }
  std::string known;
  for (const unit& u : all_) known.append(" ").append(u.name);
  throw std::invalid_argument("there is no work \"" + std::string(name) + "\"; known are" + known);
}

}  // namespace simulate
