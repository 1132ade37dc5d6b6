#include "bench/simulate/costs.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace simulate {

const std::vector<cost_name>& all_costs() {
  static const std::vector<cost_name> names = {
      {"fork", &costs::fork, "ns: fork and join, not stolen, by continuations"},
      {"fork_tasks", &costs::fork_tasks, "ns: fork and join, not stolen, by tasks"},
      {"slow_push", &costs::slow_push, "ns: an owner attends to a request and shares records"},
      {"slow_pop", &costs::slow_pop, "ns: an owner takes back a public record"},
      {"look", &costs::look, "ns: a look at one deque"},
      {"far", &costs::far, "times as long: looks, thefts and resumptions across nodes"},
      {"round", &costs::round, "ns: pause between two rounds over all deques"},
      {"steal", &costs::steal, "ns: from the look that found a record to its first instruction"},
      {"arrive", &costs::arrive, "ns: a stolen branch comes to its join"},
      {"ended", &costs::ended, "ns: from there until its worker is free, if no strand waits for it"},
      {"suspend", &costs::suspend, "ns: an owner leaves its stack at a join"},
      {"resume", &costs::resume, "ns: a suspended owner goes on"},
      {"membarrier", &costs::membarrier, "ns: heavy fence of a thief that uses force or of a worker about to park"},
      {"interrupt", &costs::interrupt, "ns: a heavy fence for each further processor that it interrupts"},
      {"line", &costs::line, "ns: a cache line from a processor of the same complex"},
      {"complex_line", &costs::complex_line, "ns: a cache line from another complex"},
      {"socket_line", &costs::socket_line, "ns: a cache line from another socket"},
      {"complex", &costs::complex, "processors of a complex, which share a cache"},
      {"misses", &costs::misses, "loads of lines at a time in a round over all deques"},
      {"park", &costs::park, "ns: a worker goes to sleep, apart from the heavy fence"},
      {"wake", &costs::wake, "ns: what a wake-up costs the waker"},
      {"wakeup", &costs::wakeup, "ns: from a wake-up to the woken worker's first look"},
      {"stack_bytes", &costs::stack_bytes, "bytes of a stack; a task runs on top of a join only in its upper half"},
      {"frame_bytes", &costs::frame_bytes, "bytes that a call takes of its stack"},
  };
  return names;
}

void set_cost(costs& of, std::string_view name, double value) {
  for (const cost_name& cost : all_costs()) {
    if (cost.name != name) continue;
    if (!std::isfinite(value) || value < 0 || value > 1e12)
      throw std::invalid_argument("the cost " + std::string(name) + " is " + std::to_string(value) +
                                  "; set it to a number from 0 to 1e12");
    of.*cost.value = value;
    return;
  }
  std::string known;
  for (const cost_name& cost : all_costs()) known.append(" ").append(cost.name);
  throw std::invalid_argument("there is no cost \"" + std::string(name) + "\"; known are" + known);
}

}  // namespace simulate
