// The serial program, and every order of siblings with every kind of join.
#include <forkjoin/fork_join.hpp>
#include <forkjoin/run.hpp>
#include <forkjoin/scope.hpp>

#include "bench/harness/deep_options.hpp"
#include "bench/space/shapes.hpp"

namespace {

template <class Policy>
struct by_policy {
  using group = fj::basic_scope<Policy>;
  template <class F, class G>
  static void fork(F f, G g) {
    fj::fork_join<Policy>(f, g);
  }
};

template <class Policy>
std::string run(const space::program& of, unsigned procs, bool& right) {
  fj::runtime runtime(bench::deep_options(procs));
  right = runtime.run([&] { return space::run<by_policy<Policy>>(of); });
  const fj::stats all = runtime.stats();
  const fj::counters c = all.total();
  return "records " + std::to_string(c.most_public) + "\nstacks " + std::to_string(all.stacks_peak) + "\nsteals " +
         std::to_string(c.steals) + "\n";
}

// On a stack as large as ours.
std::string run_serially(const space::program& of, unsigned, bool& right) {
  fj::runtime runtime(bench::deep_options(1));
  right = runtime.run([&] { return space::run<space::serial>(of); });
  return "";
}

template <class Order, class Join>
using policy = fj::policy<Order, Join>;

}  // namespace

int main(int argc, char** argv) {
  return space::main_of({{"serial", &run_serially},
                         {"continuations", &run<fj::continuations>},
                         {"tasks", &run<fj::tasks>},
                         {"first_top", &run<policy<fj::first_child_first, fj::run_on_top>>},
                         {"first_leap", &run<policy<fj::first_child_first, fj::leapfrog>>},
                         {"last_leave", &run<policy<fj::last_child_first, fj::leave_stack>>},
                         {"last_leap", &run<policy<fj::last_child_first, fj::leapfrog>>}},
                        argc, argv);
}
