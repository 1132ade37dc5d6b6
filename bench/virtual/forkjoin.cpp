// Every order of siblings with every kind of join; and loops and scopes in place of forks of many closures.
#include <forkjoin/fork_each.hpp>
#include <forkjoin/fork_join.hpp>
#include <forkjoin/run.hpp>
#include <forkjoin/scope.hpp>

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "bench/harness/deep_options.hpp"
#include "bench/virtual/runs.hpp"

namespace {

template <class Policy>
struct by_policy {
  template <class F, class G>
  static void fork(F f, G g) {
    fj::fork_join<Policy>(f, g);
  }
  template <class F>
  static void children(long n, const F& f) {
    n == 4    ? all_of<4>(f)
    : n == 8  ? all_of<8>(f)
    : n == 16 ? all_of<16>(f)
    : n == 32 ? all_of<32>(f)
    : n == 64 ? all_of<64>(f)
              : throw std::invalid_argument("the number of children is a power of two from 4 to 64");
  }

 private:
  template <std::size_t n, class F>
  static void all_of(const F& f) {
    [&f]<std::size_t... i>(std::index_sequence<i...>) {
      fj::fork_join<Policy>(child<F>{f, static_cast<long>(i)}...);
    }(std::make_index_sequence<n>());
  }

  template <class F>
  struct child {
    const F& f;
    long i;
    void operator()() const { f(i); }
  };
};

template <class Policy>
struct by_loop {
  template <class F, class G>
  static void fork(F f, G g) {
    children(2, [&](long i) { i == 0 ? f() : g(); });
  }
  template <class F>
  static void children(long n, const F& f) {
    fj::fork_each<Policy>(0L, n, f);
  }
};

template <class Policy>
struct by_scope {
  template <class F, class G>
  static void fork(F f, G g) {
    fj::basic_scope<Policy> both;
    both.fork(f);
    g();
    both.join();
  }
  template <class F>
  static void children(long n, const F& f) {
    fj::basic_scope<Policy> all;
    for (long i = 0; i + 1 < n; ++i) all.fork([&f, i] { f(i); });
    f(n - 1);
    all.join();
  }
};

template <class Way>
std::string run_by(const shapes::tree& of, unsigned procs, double& seconds) {
  fj::runtime runtime(bench::deep_options(procs));
  seconds = shapes::seconds_of([&] { runtime.run([&] { of.run<Way>(); }); });
  const fj::stats all = runtime.stats();
  const fj::counters c = all.total();
  std::string text = ", \"steals\": " + std::to_string(c.steals) + ", \"join_waits\": " + std::to_string(c.join_waits) +
                     ", \"late_ns\": " + std::to_string(c.late_ns) +
                     ", \"most_late_ns\": " + std::to_string(c.most_late_ns) +
                     ", \"on_top_ns\": " + std::to_string(c.on_top_ns) +
                     ", \"longest_stolen_ns\": " + std::to_string(c.longest_stolen_ns) +
                     ", \"stacks_peak\": " + std::to_string(all.stacks_peak) + ", \"joins_late\": [";
  for (std::size_t i = 0; i != c.joins_late.size(); ++i) text += (i ? ", " : "") + std::to_string(c.joins_late[i]);
  return text + "]";
}

template <class Policy>
std::string run(const shapes::tree& of, unsigned procs, double& seconds) {
  return run_by<by_policy<Policy>>(of, procs, seconds);
}

template <class Order, class Join>
using policy = fj::policy<Order, Join>;

}  // namespace

int main(int argc, char** argv) {
  return shapes::main_of({{"continuations", &run<fj::continuations>},
                          {"tasks", &run<fj::tasks>},
                          {"first_top", &run<policy<fj::first_child_first, fj::run_on_top>>},
                          {"first_leap", &run<policy<fj::first_child_first, fj::leapfrog>>},
                          {"last_leave", &run<policy<fj::last_child_first, fj::leave_stack>>},
                          {"last_leap", &run<policy<fj::last_child_first, fj::leapfrog>>},
                          {"loop", &run_by<by_loop<fj::continuations>>, true},
                          {"loop_tasks", &run_by<by_loop<fj::tasks>>, true},
                          {"scope", &run_by<by_scope<fj::continuations>>, true},
                          {"scope_tasks", &run_by<by_scope<fj::tasks>>, true}},
                         argc, argv);
}
