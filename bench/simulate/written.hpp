// What the hand-computed DAGs of the tests are written and run with.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bench/simulate/kernel.hpp"
#include "bench/simulate/simulator.hpp"

namespace simulate {

// A DAG written down: node kind i has the steps of calls[i].
class written final : public kernel {
 public:
  struct line {
    double work;
    then follows = then::end;
    std::uint32_t left = 0, right = 0;
    loop_parts parts{};
    std::uint32_t iterations = 0;
  };

  explicit written(std::vector<std::vector<line>> calls) : calls_(std::move(calls)) {}

  node root() const override { return {}; }
  void at(node& self, unsigned phase, step& out) const override {
    const line& now = calls_.at(self.kind).at(phase);
    out = {ps(now.work), now.follows, {now.left}, {now.right}, now.parts, now.iterations};
  }

 private:
  const std::vector<std::vector<line>> calls_;
};

// What the times below are computed with, in nanoseconds. Looks are free, so that it does not matter where a thief
// begins.
inline costs small_costs() {
  costs c;
  c.fork = c.fork_tasks = 3;
  c.slow_push = 5;
  c.slow_pop = 4;
  c.look = 0;
  c.round = 1;
  c.steal = 50;
  c.arrive = 11;
  c.ended = 0;
  c.suspend = 13;
  c.resume = 17;
  c.membarrier = 15000;
  c.interrupt = c.line = c.complex_line = c.socket_line = 0;
  c.park = 0;
  c.wake = 2;
  c.wakeup = 100;
  return c;
}

inline setup on(unsigned procs, policy steals = policy::continuations, std::uint64_t seed = 1) {
  return {.procs = procs, .steals = steals, .cost = small_costs(), .seed = seed};
}

}  // namespace simulate
