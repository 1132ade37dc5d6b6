// The team of both of our ways; they differ in the functions only.
#pragma once

#include <forkjoin/forkjoin.hpp>

#include "bench/fib/way.hpp"

namespace bench {

template <long (*Fib)(int), long (*Flat)(long)>
class forkjoin_team final : public team {
 public:
  explicit forkjoin_team(int procs) : runtime_{fj::options{.procs = static_cast<unsigned>(procs)}} {}

  long fib(int n) override {
    return runtime_.run([n] { return Fib(n); });
  }
  long flat(long count) override {
    return runtime_.run([count] { return Flat(count); });
  }

  counter_list counters() const override {
    const fj::counters c = runtime_.stats().total();
    return {{"steals", c.steals},           {"suspensions", c.suspensions}, {"resumptions", c.resumptions},
            {"join_waits", c.join_waits},   {"exposures", c.exposures},     {"publications", c.publications},
            {"slow_pushes", c.slow_pushes}, {"slow_pops", c.slow_pops},     {"parks", c.parks},
            {"wakeups", c.wakeups}};
  }

 private:
  mutable fj::runtime runtime_;
};

}  // namespace bench
