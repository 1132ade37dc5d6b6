// Scopes as in code written by hand. The results are two variables: the halves of a pair would be stored one by one and
// loaded as one, and the load would wait for the stores.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"

namespace bench::ways {

struct scope {
  static constexpr bool is_serial = false;
  using team = forkjoin_team;

  template <class F, class G>
  [[gnu::always_inline]] static auto fork(F f, G g) {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      fj::scope s;
      s.fork(f);
      g();
      s.join();
    } else {
      std::invoke_result_t<F> a;
      std::invoke_result_t<G> b;
      {
        fj::scope s;
        s.fork([&a, f] { a = f(); });
        b = g();
        s.join();
      }
      return std::pair(a, b);
    }
  }
};

}  // namespace bench::ways

BENCH_WAY(scope)
