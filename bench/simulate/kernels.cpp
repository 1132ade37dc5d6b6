// The kernels that are simulated: those of bench/kernels, recorded.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/kernels/alignment/alignment.hpp"
#include "bench/kernels/cholesky/cholesky.hpp"
#include "bench/kernels/cilksort/cilksort.hpp"
#include "bench/kernels/fft/fft.hpp"
#include "bench/kernels/fib/fib.hpp"
#include "bench/kernels/floorplan/floorplan.hpp"
#include "bench/kernels/health/health.hpp"
#include "bench/kernels/heat/heat.hpp"
#include "bench/kernels/integrate/integrate.hpp"
#include "bench/kernels/knapsack/knapsack.hpp"
#include "bench/kernels/lu/lu.hpp"
#include "bench/kernels/mandelbrot/mandelbrot.hpp"
#include "bench/kernels/matmul/matmul.hpp"
#include "bench/kernels/nqueens/nqueens.hpp"
#include "bench/kernels/quicksort/quicksort.hpp"
#include "bench/kernels/rectmul/rectmul.hpp"
#include "bench/kernels/skynet/skynet.hpp"
#include "bench/kernels/sparselu/sparselu.hpp"
#include "bench/kernels/strassen/strassen.hpp"
#include "bench/kernels/treesum/treesum.hpp"
#include "bench/kernels/uts/uts.hpp"
#include "bench/simulate/kernel.hpp"
#include "bench/simulate/random_tree.hpp"
#include "bench/simulate/recorder.hpp"
#include "bench/simulate/recording.hpp"
#include "bench/virtual/shapes.hpp"
#include "forkjoin/run.hpp"

namespace simulate {

namespace {

/// On a stack that is large enough for the deepest trees.
template <class F>
recorded on_large_stack(const F& record) {
  fj::runtime one({.procs = 1, .stack_size = std::size_t{256} << 20});
  return one.run(record);
}

/// Runs the kernel once.
template <template <class> class Problem, const bench::kernel& description>
std::unique_ptr<kernel> record(long size, const units& work) {
  const std::uint64_t right = description.expected(size);
  Problem<recording> problem(size);
  if constexpr (requires { problem.reset(); }) problem.reset();
  recorded found = on_large_stack([&] { return recording::run(work, [&] { problem.run(); }); });
  if (problem.result() != right)
    throw std::logic_error("the recorded run of " + std::string(description.name) + " has a wrong result");
  return std::make_unique<recorded>(std::move(found));
}

template <std::size_t tree>
std::unique_ptr<kernel> record_tree(long, const units& work) {
  return record<bench::uts::problem, bench::uts::description>(bench::uts::trees[tree].nodes, work);
}

/// A chain is deep.
template <std::size_t shape, class Way = recording>
std::unique_ptr<kernel> record_shape(long leaves, const units& work) {
  const shapes::tree all(shapes::all[shape], leaves, 0, true);
  return std::make_unique<recorded>(on_large_stack([&] { return recording::run(work, [&] { all.run<Way>(); }); }));
}

std::unique_ptr<kernel> draw(long seed, const units&) {
  return std::make_unique<recorded>(on_large_stack([&] { return draw_tree(static_cast<std::uint64_t>(seed)); }));
}

struct nested : recording {
  template <class Body>
  static void children(long count, const Body& body) {
    nested_children(0, count, body);
  }
};

}  // namespace

const std::vector<kernel_name>& all_kernels() {
  static const std::vector<kernel_name> kernels = {
      {"fib", 35, 0, 60, "Fibonacci number n, a fork for each n > 1, no cut-off",
       &record<bench::fib::problem, bench::fib::description>},
      {"integrate", 1000, 1, 100'000, "(x^2 + 1) x from 0 to n, adaptively, no cut-off",
       &record<bench::integrate::problem, bench::integrate::description>},
      {"nqueens", 12, 1, 16, "all ways to place n queens on n rows, no cut-off",
       &record<bench::nqueens::problem, bench::nqueens::description>},
      {"skynet", 1'000'000, 1, 1'000'000'000, "a tree of n leaves, a power of ten, ten children a node, no cut-off",
       &record<bench::skynet::problem, bench::skynet::description>},
      {"uts", 0, 0, 0, "unbalanced tree search, T1: geometric", &record_tree<2>},
      {"uts_t3", 0, 0, 0, "unbalanced tree search, T3: binomial", &record_tree<3>},
      {"uts_t1l", 0, 0, 0, "unbalanced tree search, T1L: geometric, large", &record_tree<4>},
      {"uts_t3l", 0, 0, 0, "unbalanced tree search, T3L: binomial, large", &record_tree<5>},
      {"matmul", 2048, 16, 16'384, "n x n matrices, quarters down to tiles of 16",
       &record<bench::matmul::problem, bench::matmul::description>},
      {"strassen", 2048, 16, 16'384, "n x n matrices, seven products a level down to 64",
       &record<bench::strassen::problem, bench::strassen::description>},
      {"cilksort", 50'000'000, 1, 500'000'000, "n elements, quarters and parallel merges down to 2,048",
       &record<bench::cilksort::problem, bench::cilksort::description>},
      {"quicksort", 50'000'000, 1, 500'000'000, "n elements, a serial partition, down to 32",
       &record<bench::quicksort::problem, bench::quicksort::description>},
      {"heat", 1024, 3, 16'384, "n steps of n x n points, each a loop over blocks of 8 rows",
       &record<bench::heat::problem, bench::heat::description>},
      {"lu", 2048, 16, 16'384, "n x n matrix, blocks halved down to tiles of 16",
       &record<bench::lu::problem, bench::lu::description>},
      {"cholesky", 2048, 16, 16'384, "n x n matrix, blocks halved down to tiles of 16",
       &record<bench::cholesky::problem, bench::cholesky::description>},
      {"fft", 16'777'216, 32, 67'108'864, "n points down to 32, butterflies down to 512",
       &record<bench::fft::problem, bench::fft::description>},
      {"knapsack", 68, 1, 100, "branch and bound over n items, as the serial program visits them",
       &record<bench::knapsack::problem, bench::knapsack::description>},
      {"treesum", 3'000'000, 1, 100'000'000, "an irregular binary tree of n nodes, no cut-off",
       &record<bench::treesum::problem, bench::treesum::description>},
      {"mandelbrot", 2048, 64, 2048, "64 x 64, 512 x 512 or 2048 x 2048 points, a loop over rows",
       &record<bench::mandelbrot::problem, bench::mandelbrot::description>},
      {"rectmul", 2048, 32, 16'384, "an n x 2n and a 2n x n/2 matrix, the longest edge halved down to tiles of 16",
       &record<bench::rectmul::problem, bench::rectmul::description>},
      {"alignment", 40, 8, 100, "8, 40 or 100 proteins, nested loops over pairs",
       &record<bench::alignment::problem, bench::alignment::description>},
      {"floorplan", 11, 1, 14, "branch and bound over n cells, as the serial program visits them",
       &record<bench::floorplan::problem, bench::floorplan::description>},
      {"health", 100, 5, 365, "5, 100 or 365 days of 8,421 villages, nested loops",
       &record<bench::health::problem, bench::health::description>},
      {"sparselu", 40, 1, 1000, "n x n blocks of 32 x 32, most of them empty, loops over blocks",
       &record<bench::sparselu::problem, bench::sparselu::description>},
      {"even", 256, 1, 1'000'000, "a tree of n leaves, of bench/virtual: halves", &record_shape<0>},
      {"uneven", 256, 1, 1'000'000, "the same, split as Fibonacci numbers are", &record_shape<1>},
      {"heavy_root", 256, 1, 1'000'000, "halves, and eight leaves' work after the last join", &record_shape<2>},
      {"mergesort", 256, 1, 1'000'000, "halves, and after each join work that grows with the leaves below",
       &record_shape<3>},
      {"reduction", 256, 1, 1'000'000, "halves, and half a leaf's work after each join", &record_shape<4>},
      {"heavy_branches", 256, 1, 1'000'000, "halves, and eight leaves' work after four joins below the root",
       &record_shape<5>},
      {"larger_first", 256, 1, 1'000'000, "split as Fibonacci numbers are, and half a leaf's work after each join",
       &record_shape<6>},
      {"larger_second", 256, 1, 1'000'000, "the same, the smaller child first", &record_shape<7>},
      {"chain", 256, 1, 1'000'000, "n - 1 forks, each of a leaf and the rest", &record_shape<8>},
      {"mirrored_chain", 256, 1, 1'000'000, "n - 1 forks, each of the rest and a leaf", &record_shape<9>},
      {"4_children", 256, 1, 1'000'000, "four equal children a node, with one join", &record_shape<10>},
      {"8_children", 256, 1, 1'000'000, "eight equal children a node, with one join", &record_shape<11>},
      {"64_children", 256, 1, 1'000'000, "64 equal children a node, with one join", &record_shape<12>},
      {"random_tree", 1, 0, 1'000'000'000, "a tree drawn by its size, which is a seed: bench/simulate/random_tree.hpp",
       &draw},
      {"4_nested", 256, 1, 1'000'000, "four equal children a node, nested forks of two", &record_shape<10, nested>},
      {"8_nested", 256, 1, 1'000'000, "eight equal children a node, nested forks of two", &record_shape<11, nested>},
      {"64_nested", 256, 1, 1'000'000, "64 equal children a node, nested forks of two", &record_shape<12, nested>},
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
