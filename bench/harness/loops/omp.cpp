// OpenMP's static loops, each a parallel region of its own, as programs write them. It has no sort: suffix_array leaves
// it out.
#include <omp.h>

#include <cstddef>
#include <vector>

#include "bench/harness/problem.hpp"

namespace bench::ways {

struct omp {
  static constexpr bool is_serial = false;

  template <class Body>
  [[gnu::always_inline]] static void each(long n, const Body& body) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) body(i);
  }

  template <class T, class Term>
  [[gnu::always_inline]] static T sum(long n, T zero, const Term& term) {
#pragma omp parallel for schedule(static) reduction(+ : zero)
    for (long i = 0; i < n; ++i) zero += term(i);
    return zero;
  }

  template <class T>
  static T scan(const T* in, long n, T* out) {
    return in_blocks<T>(
        n,
        [=](long first, long last) {
          T sum = T();
          for (long i = first; i < last; ++i) sum += in[i];
          return sum;
        },
        [=](long first, long last, T before) {
          for (long i = first; i < last; ++i) {
            const T next = before + in[i];
            out[i] = before;
            before = next;
          }
        });
  }

  template <class T, class Test>
  static long pack(const T* in, long n, T* out, const Test& test) {
    return in_blocks<long>(
        n,
        [&](long first, long last) {
          long count = 0;
          for (long i = first; i < last; ++i) count += static_cast<long>(static_cast<bool>(test(in[i])));
          return count;
        },
        [&](long first, long last, long to) {
          for (long i = first; i < last; ++i)
            if (test(in[i])) out[to++] = in[i];
        });
  }

  class team {
   public:
    team(int procs, std::size_t) : procs_(procs) {}  // stacks: OMP_STACKSIZE

    template <class F>
    void run(F&& f) {
      omp_set_num_threads(procs_);
      f();
    }
    counter_list counters() const { return {}; }

   private:
    int procs_;
  };

 private:
  // A block for each thread: sums first, then what needs the sum of all blocks before.
  template <class T, class Sum, class Write>
  static T in_blocks(long n, const Sum& sum, const Write& write) {
    const int blocks = omp_get_max_threads();
    std::vector<T> before(static_cast<std::size_t>(blocks) + 1);
    const auto begin = [=](int block) { return n * block / blocks; };
#pragma omp parallel for schedule(static)
    for (int b = 0; b < blocks; ++b) before[static_cast<std::size_t>(b) + 1] = sum(begin(b), begin(b + 1));
    for (std::size_t b = 1; b < before.size(); ++b) before[b] += before[b - 1];
#pragma omp parallel for schedule(static)
    for (int b = 0; b < blocks; ++b) write(begin(b), begin(b + 1), before[static_cast<std::size_t>(b)]);
    return before.back();
  }
};

}  // namespace bench::ways

BENCH_WAY(omp)
