// The kernel's template with every fork elided, that is, replaced by plain calls in order. It is not measured. A test
// counts its instructions, because the serial program that is written by hand must not be slower (test/bench/
// serial_cost_test.py). A kernel asks is_serial where elision makes another algorithm: of fib through lambdas g++
// computes most calls once instead of several times.
#include <tuple>
#include <utility>

#include "bench/harness/problem.hpp"
#include "bench/harness/ways/serial.hpp"

namespace bench::ways {

struct elided : serial {
  template <class F, class... More>
  [[gnu::always_inline]] static auto fork(F&& f, More&&... more) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
      f();
      (more(), ...);
    } else {
      return std::tuple{f(), more()...};  // braces: from left to right
    }
  }

  // Adds up what body returns for each child of a node.
  template <class T, class Body>
  [[gnu::always_inline]] static T children(int count, T init, const Body& body) {
    for (int i = 0; i < count; ++i) init = init + body(i);
    return init;
  }

  template <class Body>
  [[gnu::always_inline]] static void loop(long first, long last, long, const Body& body) {
    if (first < last) body(first, last);
  }
};

}  // namespace bench::ways

namespace bench::BENCH_KERNEL {

way elided_way() { return {"elided", false, assemble<ways::elided, problem>, false}; }

const kernel& its_description() { return description; }

}  // namespace bench::BENCH_KERNEL
