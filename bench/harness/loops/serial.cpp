// Plain loops and the standard library's algorithms. A kernel whose serial program is another one asks is_serial.
#include <algorithm>
#include <numeric>

#include "bench/harness/problem.hpp"

namespace bench::ways {

struct serial {
  static constexpr bool is_serial = true;

  template <class Body>
  [[gnu::always_inline]] static void each(long n, const Body& body) {
    for (long i = 0; i < n; ++i) body(i);
  }

  template <class T, class Term>
  [[gnu::always_inline]] static T sum(long n, T zero, const Term& term) {
    for (long i = 0; i < n; ++i) zero += term(i);
    return zero;
  }

  template <class T>
  static T scan(const T* in, long n, T* out) {
    T sum = T();
    for (long i = 0; i < n; ++i) {
      const T next = sum + in[i];
      out[i] = sum;
      sum = next;
    }
    return sum;
  }

  template <class T, class Test>
  static long pack(const T* in, long n, T* out, const Test& test) {
    return std::copy_if(in, in + n, out, test) - out;
  }

  template <class T, class Less>
  static void sort(T* first, long n, const Less& less) {
    std::sort(first, first + n, less);
  }

  class team {
   public:
    team(int, std::size_t) {}
    template <class F>
    void run(F&& f) {
      f();
    }
    counter_list counters() const { return {}; }
  };
};

}  // namespace bench::ways

BENCH_WAY(serial)

namespace bench::BENCH_KERNEL {
const kernel& its_description() { return description; }
}  // namespace bench::BENCH_KERNEL
