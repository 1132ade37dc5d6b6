// The kernels' makers, by the file that has them. kernels.cpp lists them all.
#pragma once

#include <memory>

#include "bench/simulate/kernel.hpp"

namespace simulate {

using made = std::unique_ptr<kernel>;

// small_trees.cpp
made make_fib(long n, const units& work);
made make_integrate(long n, const units& work);
made make_skynet(long leaves, const units& work);
made make_treesum(long nodes, const units& work);

// searches.cpp
made make_nqueens(long n, const units& work);
made make_knapsack(long items, const units& work);

// uts.cpp
made make_uts_t1(long, const units& work);
made make_uts_t3(long, const units& work);
made make_uts_t1l(long, const units& work);
made make_uts_t3l(long, const units& work);

// matrices.cpp
made make_matmul(long n, const units& work);
made make_strassen(long n, const units& work);
made make_lu(long n, const units& work);
made make_cholesky(long n, const units& work);

// arrays.cpp
made make_cilksort(long n, const units& work);
made make_quicksort(long n, const units& work);
made make_heat(long n, const units& work);
made make_fft(long n, const units& work);
made make_mandelbrot(long n, const units& work);

}  // namespace simulate
