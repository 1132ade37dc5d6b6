// The common part of the library's own ways.
#pragma once

#include <forkjoin/forkjoin.hpp>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/harness/ways/children.hpp"

namespace bench::ways {

class forkjoin_team {
 public:
  forkjoin_team(int procs, std::size_t stack_size) : runtime_{wanted(procs, stack_size)} {
    for (int i = 0; i < procs; ++i) {
      names_.push_back("busy_ns_" + std::to_string(i));
      names_.push_back("looking_ns_" + std::to_string(i));
    }
  }

  template <class F>
  void run(F&& f) {
    runtime_.run(f);
  }

  counter_list counters() const {
    const fj::stats stats = runtime_.stats();
    const fj::counters c = stats.total();
    counter_list found{{"steals", c.steals},
                       {"suspensions", c.suspensions},
                       {"resumptions", c.resumptions},
                       {"join_waits", c.join_waits},
                       {"exposures", c.exposures},
                       {"publications", c.publications},
                       {"most_public", c.most_public},
                       {"slow_pushes", c.slow_pushes},
                       {"slow_pops", c.slow_pops},
                       {"parks", c.parks},
                       {"wakeups", c.wakeups},
                       {"stacks_peak", stats.stacks_peak},
                       {"busy_ns", c.busy_ns},
                       {"looking_ns", c.looking_ns},
                       {"late_ns", c.late_ns},
                       {"most_late_ns", c.most_late_ns},
                       {"on_top_ns", c.on_top_ns},
                       {"stolen_ns", c.stolen_ns},
                       {"longest_stolen_ns", c.longest_stolen_ns},
                       {"ready_ns", c.ready_ns},
                       {"most_ready_ns", c.most_ready_ns}};
    for (std::size_t i = 0; i != c.joins_late.size(); ++i) found.emplace_back(late_names[i], c.joins_late[i]);
    auto name = names_.begin();
    for (const fj::counters& of_one : stats.procs) {
      found.emplace_back(*name++, of_one.busy_ns);
      found.emplace_back(*name++, of_one.looking_ns);
    }
    return found;
  }

 private:
  static fj::options wanted(int procs, std::size_t stack_size) {
    fj::options o;
    o.procs = static_cast<unsigned>(procs);
    if (stack_size) o.stack_size = stack_size;
    return o;
  }

  static constexpr const char* late_names[] = {"late_below_1us", "late_below_10us", "late_below_100us",
                                               "late_below_1ms", "late_below_10ms", "late_more"};

  std::vector<std::string> names_;  ///< of the counters of each P
  fj::runtime runtime_;
};

// With one_join, one join waits for all children of a node, if the policy can do that; else they are forked two at a
// time.
template <class Policy, bool one_join = std::is_same_v<Policy, fj::continuations>>
struct forkjoin {
  static constexpr bool is_serial = false;
  using team = forkjoin_team;

  template <class... F>
  [[gnu::always_inline]] static auto fork(F&&... f) {
    return fj::fork_join<Policy>(std::forward<F>(f)...);
  }

  template <class T, class Body>
  [[gnu::always_inline]] static T children(int count, T init, Body body) {
    if constexpr (one_join) {
      return fj::fork_reduce(0, count, init, std::plus<>(), std::move(body));
    } else {
      return fork_children<forkjoin>(0, count, init, body);
    }
  }
};

}  // namespace bench::ways
