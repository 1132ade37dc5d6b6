// Forks into an fj::scope: each closure but the last runs on a stack of its own, and a thief takes the true
// continuation of this function.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/children.hpp"
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

  template <class T, class Body>
  static T children(int count, T init, const Body& body) {
    child_results<T> found(count);
    fj::scope s;
    for (int i = 0; i < count - 1; ++i) s.fork([&found, &body, i] { found[i] = body(i); });
    if (count > 0) found[count - 1] = body(count - 1);
    s.join();
    return found.add_up(init, count);
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
