// Loops, as most of DataRaceBench's cases are.
#include <atomic>
#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <functional>
#include <numeric>
#include <vector>

#include "test/process/races/cases.hpp"

using races_test::unknown;
using races_test::use;

int x = 0;  // the linker's name of it is x, too

namespace {

const int n = 200;
int global_counter = 0;
struct with_static {
  static int shared;
};
int with_static::shared = 0;

CASE(antidep) {  // racy DRB001
  std::vector<int> a(n);
  fj::parallel_for(0, n - 1, [&](int i) { a[i] = a[i + 1] + 1; });  // race: a b
}

CASE(antidep_rows) {  // racy DRB003
  std::vector<std::vector<double>> a(20, std::vector<double>(20, 0.5));
  fj::parallel_for(0, 19, [&](int i) {
    for (int j = 0; j != 20; ++j) a[i][j] += a[i + 1][j];  // race: a b
  });
}

CASE(indirect) {  // racy DRB005
  std::vector<int> index(n), base(2 * n);
  std::iota(index.begin(), index.end(), 0);
  index[n / 2] = 3;
  fj::parallel_for(0, n, [&](int i) { base[index[i]] = i; });  // race: a b
}

CASE(last_private_missing) {  // racy DRB009
  int x = 0;
  fj::parallel_for(0, n, [&](int i) { x = i; });  // race: a b
  use(x);
}

CASE(minus_minus) {  // racy DRB011
  int left = n;
  std::vector<int> x(n, 1);
  fj::parallel_for(0, n, [&](int i) {
    if (x[i] > 0) left--;  // race: a b
  });
  use(left);
}

CASE(two_loops) {  // clean DRB013, as each loop has a join
  std::vector<int> a(n);
  int sum = 0;
  fj::parallel_for(0, n, [&](int i) { a[i] = i; });
  sum = a[9] + 1;
  fj::parallel_for(0, n, [&](int i) { a[i] += 1; });
  use(sum);
}

CASE(neighbour_columns) {  // racy DRB014
  std::vector<double> b(20 * 20);
  fj::parallel_for(1, 20, [&](int j) {
    for (int i = 1; i != 20; ++i) b[i * 20 + j] = b[i * 20 + j - 1];  // race: a b
  });
}

CASE(output_dependence) {  // racy DRB016
  std::vector<int> a(n);
  int x = 10;
  fj::parallel_for(0, n, [&](int i) {
    a[i] = x;  // race: b
    x = i;     // race: a
  });
}

CASE(plus_plus) {  // racy DRB018
  std::vector<int> in(n, 1), out(n);
  int len = 0;
  fj::parallel_for(0, n, [&](int i) { out[len++] = in[i]; });  // race: a b
  use(len);
}

CASE(private_missing) {  // racy DRB020
  std::vector<int> a(n);
  int tmp = 0;
  fj::parallel_for(0, n, [&](int i) {
    tmp = a[i] + i;  // race: a b
    a[i] = tmp;
  });
}

CASE(reduction_missing) {  // racy DRB021
  std::vector<float> u(100, 0.5f);
  float sum = 0;
  fj::parallel_for(0, 10, [&](int i) {
    for (int j = 0; j != 10; ++j) {
      const float t = u[i * 10 + j];
      sum += t * t;  // race: a b
    }
  });
  use(sum);
}

CASE(true_dependence) {  // racy DRB029
  std::vector<int> a(n);
  fj::parallel_for(0, n - 1, [&](int i) { a[i + 1] = a[i] + 1; });  // race: a b
}

CASE(true_dependence_linear) {  // racy DRB033
  std::vector<int> a(2 * n);
  fj::parallel_for(0, n, [&](int i) { a[2 * i + 1] = a[i] + 1; });  // race: a b
}

CASE(one_element) {  // racy DRB039
  std::vector<int> a(n, 1);
  fj::parallel_for(0, n, [&](int i) { a[i] = a[i] + a[0]; });  // race: a b
}

CASE(do_all) {  // clean DRB045
  std::vector<int> a(n);
  fj::parallel_for(0, n, [&](int i) { a[i] = a[i] + 1; });
}

CASE(do_all_2d) {  // clean DRB046
  std::vector<int> a(20 * 20);
  fj::parallel_for(0, 20, [&](int i) { fj::parallel_for(0, 20, [&](int j) { a[i * 20 + j] += 1; }); });
}

CASE(do_all_bytes) {  // clean DRB047: neighbours share words, and no byte
  std::vector<char> a(n);
  fj::parallel_for(0, n, [&](int i) { a[i] = static_cast<char>(i); });
}

CASE(shared_byte) {  // racy
  std::vector<char> a(n);
  fj::parallel_for(0, n - 1, [&](int i) { a[i] = a[i + 1]; });  // race: a b
}

CASE(words_of_two_sizes) {  // racy: a long over two ints
  std::vector<int> a(n);
  fj::parallel_for(0, n - 1, [&](int i) {
    if (i != 7) {
      a[i] = i;  // race: a
    } else {
      const long both = 1;
      std::memcpy(&a[i - 1], &both, sizeof both);  // race: b
    }
  });
}

CASE(first_private) {  // clean DRB048
  std::vector<int> a(n);
  const int g = unknown(5);
  fj::parallel_for(0, n, [&a, g](int i) { a[i] += g; });
}

CASE(function_parameter) {  // clean DRB050
  std::vector<double> o(n), c(n, 1);
  const auto kernel = [](double* to, const double* from, int len) {
    fj::parallel_for(0, len, [=](int i) { to[i] = from[i] * 2; });
  };
  kernel(o.data(), c.data(), n);
}

CASE(share_base) {  // clean DRB052: two pointers into one array
  std::vector<double> base(2 * n + 24);
  double* const x = base.data();
  double* const y = x + n + 12;
  fj::parallel_for(0, n, [=](int i) {
    x[i] += 1;
    y[i] += 3;
  });
}

CASE(inner_only) {  // clean DRB053: the outer loop carries the dependence
  std::vector<double> a(20 * 20, 1);
  for (int i = 0; i != 19; ++i) fj::parallel_for(0, 20, [&](int j) { a[i * 20 + j] += a[(i + 1) * 20 + j]; });
}

CASE(jacobi) {  // clean DRB055
  const int m = 24;
  std::vector<double> a(m * m, 1), b(m * m);
  for (int step = 0; step != 3; ++step) {
    fj::parallel_for(1, m - 1, [&](int i) {
      for (int j = 1; j != m - 1; ++j)
        b[i * m + j] = a[i * m + j - 1] + a[i * m + j + 1] + a[(i - 1) * m + j] + a[(i + 1) * m + j];
    });
    fj::parallel_for(1, m - 1, [&](int i) {
      for (int j = 1; j != m - 1; ++j) a[i * m + j] = b[i * m + j] / 4;
    });
  }
}

CASE(gauss_seidel) {  // racy: the same in place
  const int m = 24;
  std::vector<double> a(m * m, 1);
  fj::parallel_for(1, m - 1, [&](int i) {
    for (int j = 1; j != m - 1; ++j) a[i * m + j] = a[(i - 1) * m + j] + a[(i + 1) * m + j];  // race: a b
  });
}

CASE(matrix_product) {  // clean DRB060
  const int m = 12;
  std::vector<double> a(m * m, 1), b(m * m, 2), c(m * m);
  fj::parallel_for(0, m, [&](int i) {
    for (int k = 0; k != m; ++k)
      for (int j = 0; j != m; ++j) c[i * m + j] += a[i * m + k] * b[k * m + j];
  });
}

CASE(matrix_product_inner) {  // racy: the loop over the terms
  const int m = 8;
  std::vector<double> a(m * m, 1), b(m * m, 2), c(m * m);
  fj::parallel_for(0, m, [&](int k) {
    for (int i = 0; i != m; ++i)
      for (int j = 0; j != m; ++j) c[i * m + j] += a[i * m + k] * b[k * m + j];  // race: a b
  });
}

CASE(pi_reduction) {  // clean DRB065
  std::vector<double> x(2000);
  std::iota(x.begin(), x.end(), 0.5);
  double pi = fj::parallel_reduce(x, 0.0, std::plus<>(), [](double at) { return 4 / (1 + at * at / 4e6); });
  use(pi);
}

CASE(static_member) {                                           // racy DRB086
  fj::parallel_for(0, n, [&](int) { with_static::shared++; });  // race: a b
}

CASE(global) {                                                  // racy DRB084
  fj::parallel_for(0, n, [&](int i) { global_counter += i; });  // race: a b
}

CASE(global_of_one_letter) {                       // racy
  fj::parallel_for(0, n, [&](int i) { x += i; });  // race: a b
}

CASE(dynamic_storage) {  // racy DRB088
  auto* const counter = new int(0);
  fj::parallel_for(0, n, [=](int) { ++*counter; });  // race: a b
  delete counter;
}

CASE(static_local) {  // racy DRB090
  static int tmp;
  std::vector<int> a(n);
  fj::parallel_for(0, n, [&](int i) {
    tmp = a[i] + i;  // race: a b
    a[i] = tmp;
  });
  use(tmp);
}

CASE(atomic) {  // clean DRB108
  std::atomic<int> x{0};
  fj::parallel_for(0, n, [&](int) { x.fetch_add(1, std::memory_order_relaxed); });
}

CASE(atomic_as_flag) {  // racy: an atomic access orders nothing
  std::atomic<int> ready{0};
  int data = 0, seen = 0;
  fj::parallel_for(0, 2, [&](int i) {
    if (i == 0) {
      data = 1;  // race: a
      ready.store(1);
    } else if (ready.load() == 1) {
      seen = data;  // race: b
    }
  });
  use(seen);
}

CASE(with_grain) {  // racy: a grain does not order the iterations of a block
  std::vector<int> a(n);
  fj::parallel_for(0, n, [&](int i) { a[i / 2] += i; }, {.grain = 64});  // race: a b
}

CASE(by_blocks) {  // clean
  std::vector<int> a(n), sums(n / 10 + 1);
  fj::parallel_for_blocks(0, n,
                          [&](int begin, int end) {
                            for (int i = begin; i != end; ++i) sums[begin / 10] += a[i];
                          },
                          {.grain = 10});
}

CASE(by_blocks_total) {  // racy
  std::vector<int> a(n, 1);
  int total = 0;
  fj::parallel_for_blocks(0, n, [&](int begin, int end) {
    for (int i = begin; i != end; ++i) total += a[i];  // race: a b
  });
  use(total);
}

CASE(steps) {  // clean: every third element, from its own third
  std::vector<int> a(300);
  fj::parallel_for(0, 300, 3, [&](int i) { a[i] = a[i + 1] + a[i + 2]; });
}

CASE(steps_overlap) {  // racy
  std::vector<int> a(300);
  fj::parallel_for(0, 297, 3, [&](int i) { a[i] = a[i + 3]; });  // race: a b
}

CASE(cells) {  // clean
  std::vector<int> a(30 * 30);
  fj::parallel_for_2d(30, 30, [&](std::size_t i, std::size_t j) { a[i * 30 + j] = static_cast<int>(i ^ j); });
}

CASE(cells_transposed) {  // racy
  std::vector<int> a(30 * 30);
  fj::parallel_for_2d(30, 30, [&](std::size_t i, std::size_t j) { a[i * 30 + j] = a[j * 30 + i]; });  // race: a b
}

CASE(blocks_2d) {  // racy: the border of a block is its neighbour's
  std::vector<int> a(31 * 31);
  fj::parallel_for_2d(30, 30, [&](const fj::block_2d& b) {
    for (std::size_t i = b.row_begin; i != b.row_end; ++i)
      for (std::size_t j = b.col_begin; j != b.col_end; ++j) a[i * 31 + j] = a[i * 31 + j + 1];  // race: a b
  });
}

CASE(blocks_2d_between) {  // racy: the border of a block is its neighbour's
  std::vector<int> a(31 * 31);
  fj::parallel_for_2d(1, 30, 1, 30, [&](int first_row, int last_row, int first_column, int last_column) {
    for (int i = first_row; i != last_row; ++i)
      for (int j = first_column; j != last_column; ++j)
        a[static_cast<std::size_t>(i * 31 + j)] = a[static_cast<std::size_t>(i * 31 + j + 1)];  // race: a b
  });
}

CASE(fork_each_counter) {  // racy
  int iterations = 0;
  fj::fork_each(0, n, [&](int) { ++iterations; });  // race: a b
  use(iterations);
}

CASE(fork_each_clean) {  // clean
  std::vector<int> a(n);
  fj::fork_each(a, [](int& x) { x = 7; });
  fj::fork_each(0, n, [&](int i) { a[i] += i; }, {.grain = 8});
}

CASE(benign) {  // clean: marked
  int hits = 0;
  fj::parallel_for(0, n, [&](int) { fj::benign_race([&] { ++hits; }); });
  use(hits);
}

CASE(same_value) {  // racy: also where all write the same
  bool found = false;
  fj::parallel_for(0, n, [&](int i) {
    if (unknown(i) % 50 == 0) found = true;  // race: a b
  });
  use(found);
}

}  // namespace
