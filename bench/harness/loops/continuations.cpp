// The library's loops and algorithms.
#include <algorithm>
#include <functional>
#include <ranges>

#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"

namespace bench::ways {

struct continuations {
  static constexpr bool is_serial = false;
  using team = forkjoin_team;

  template <class Body>
  [[gnu::always_inline]] static void each(long n, const Body& body) {
    fj::parallel_for(0L, n, body);
  }

  template <class T, class Term>
  [[gnu::always_inline]] static T sum(long n, T zero, const Term& term) {
    return fj::parallel_reduce(std::views::iota(0L, n), zero, std::plus<>(), term);
  }

  template <class T>
  static T scan(const T* in, long n, T* out) {
    if (n == 0) return T();
    const T last = in[n - 1];
    fj::parallel_exclusive_scan(in, in + n, out, T());
    return out[n - 1] + last;
  }

  template <class T, class Test>
  static long pack(const T* in, long n, T* out, const Test& test) {
    return fj::parallel_copy_if(in, in + n, out, test) - out;
  }

  template <class T, class Less>
  static void sort(T* first, long n, const Less& less) {
    fj::parallel_sort(first, first + n, less);
  }
};

}  // namespace bench::ways

BENCH_WAY(continuations)
