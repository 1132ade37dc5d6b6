// Every order of siblings with every kind of join.
#include <forkjoin/fork_join.hpp>
#include <forkjoin/run.hpp>

#include "bench/virtual/runs.hpp"

namespace {

template <class Policy>
struct by_policy {
  template <class F, class G>
  static void fork(F f, G g) {
    fj::fork_join<Policy>(f, g);
  }
};

template <class Policy>
std::string run(const shapes::tree& of, unsigned procs, double& seconds) {
  fj::runtime runtime({.procs = procs});
  seconds = shapes::seconds_of([&] { runtime.run([&] { of.run<by_policy<Policy>>(); }); });
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

template <class Order, class Join>
using policy = fj::policy<Order, Join>;

}  // namespace

int main(int argc, char** argv) {
  return shapes::main_of({{"continuations", &run<fj::continuations>},
                          {"tasks", &run<fj::tasks>},
                          {"first_top", &run<policy<fj::first_child_first, fj::run_on_top>>},
                          {"first_leap", &run<policy<fj::first_child_first, fj::leapfrog>>},
                          {"last_leave", &run<policy<fj::last_child_first, fj::leave_stack>>},
                          {"last_leap", &run<policy<fj::last_child_first, fj::leapfrog>>}},
                         argc, argv);
}
