#include "bench/simulate/kernels.hpp"

#include <cmath>
#include <stdexcept>

namespace simulate {

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

double units::nanoseconds(std::string_view name) const {
  for (const unit& u : all_)
    if (u.name == name) return u.nanoseconds;
  throw std::logic_error("no unit of work " + std::string(name));
}

const std::vector<kernel_name>& all_kernels() {
  static const std::vector<kernel_name> kernels = {
      {"fib", 35, 0, 60, "Fibonacci number n, a fork for each n > 1, no cut-off", &make_fib},
      {"integrate", 1000, 1, 1'000'000, "(x^2 + 1) x from 0 to n, adaptively, no cut-off", &make_integrate},
      {"nqueens", 12, 1, 20, "all ways to place n queens on n rows, no cut-off", &make_nqueens},
      {"skynet", 1'000'000, 1, 1'000'000'000, "a tree of n leaves, ten children a node, no cut-off", &make_skynet},
      {"uts", 0, 0, 0, "unbalanced tree search, T1: geometric", &make_uts_t1},
      {"uts_t3", 0, 0, 0, "unbalanced tree search, T3: binomial", &make_uts_t3},
      {"uts_t1l", 0, 0, 0, "unbalanced tree search, T1L: geometric, large", &make_uts_t1l},
      {"uts_t3l", 0, 0, 0, "unbalanced tree search, T3L: binomial, large", &make_uts_t3l},
      {"matmul", 2048, 16, 65'536, "n x n matrices, quarters down to tiles of 16", &make_matmul},
      {"strassen", 2048, 16, 65'536, "n x n matrices, seven products a level down to 64", &make_strassen},
      {"cilksort", 50'000'000, 1, 2'000'000'000, "n elements, quarters and parallel merges down to 2,048",
       &make_cilksort},
      {"quicksort", 50'000'000, 1, 2'000'000'000, "n elements, a serial partition, down to 32", &make_quicksort},
      {"heat", 1024, 3, 65'536, "n steps of n x n points, each a loop over blocks of 8 rows", &make_heat},
      {"lu", 2048, 16, 65'536, "n x n matrix, blocks halved down to tiles of 16", &make_lu},
      {"cholesky", 2048, 16, 65'536, "n x n matrix, blocks halved down to tiles of 16", &make_cholesky},
      {"fft", 16'777'216, 1, 1'073'741'824, "n points down to 32, butterflies down to 512", &make_fft},
      {"knapsack", 68, 1, 100, "branch and bound over n items: the branches that no search can avoid", &make_knapsack},
      {"treesum", 3'000'000, 1, 2'000'000'000, "an irregular binary tree of n nodes, no cut-off", &make_treesum},
      {"mandelbrot", 2048, 1, 16'384, "n x n points, a loop over rows", &make_mandelbrot},
  };
  return kernels;
}

namespace {

const kernel_name& find(std::string_view name) {
  for (const kernel_name& k : all_kernels())
    if (k.name == name) return k;
  std::string known;
  for (const kernel_name& k : all_kernels()) known.append(" ").append(k.name);
  throw std::invalid_argument("there is no kernel \"" + std::string(name) + "\"; known are" + known);
}

}  // namespace

long size_of(std::string_view name, long size) { return size != 0 ? size : find(name).size; }

std::unique_ptr<kernel> make_kernel(std::string_view name, long size, const units& work) {
  const kernel_name& k = find(name);
  const long chosen = size_of(name, size);
  if (chosen < k.smallest || chosen > k.largest)
    throw std::invalid_argument("the size of " + std::string(name) + " is " + std::to_string(chosen) +
                                "; set it to a number from " + std::to_string(k.smallest) + " to " +
                                std::to_string(k.largest) + ", or to 0 for its own");
  return k.make(chosen, work);
}

}  // namespace simulate
