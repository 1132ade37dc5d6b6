// The serial program, compiled with the same flags, to which every other way is compared. Its forks are plain calls in
// order. Where a serial program would be written in another way, the kernel asks is_serial.
#include <tuple>
#include <variant>

#include "bench/harness/problem.hpp"

namespace bench::ways {

struct serial {
  static constexpr bool is_serial = true;

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
