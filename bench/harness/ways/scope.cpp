// Forks into an fj::scope: each closure but the last runs on a stack of its own, and a thief takes the true
// continuation of this function.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"
#include "bench/harness/ways/results.hpp"

namespace bench::ways {

struct scope {
  static constexpr bool is_serial = false;
  using team = forkjoin_team;

  template <class... F>
  [[gnu::always_inline]] static auto fork(F&&... f) {
    return fork_with_results(
        [](auto&&... g) {
          fj::scope s;
          fork_into(s, g...);
          s.join();
        },
        f...);
  }

  template <class Body>
  static void loop(long first, long last, long grain, const Body& body) {
    fj::scope s;
    for (long from = first; from < last; from += grain) {
      const long to = last - from < grain ? last : from + grain;
      s.fork([&body, from, to] { body(from, to); });
    }
    s.join();
  }

 private:
  template <class F, class... More>
  [[gnu::always_inline]] static void fork_into(fj::scope& s, F& f, More&... more) {
    if constexpr (sizeof...(More) == 0) {
      f();
    } else {
      s.fork([&f] { f(); });
      fork_into(s, more...);
    }
  }
};

}  // namespace bench::ways

BENCH_WAY(scope)
