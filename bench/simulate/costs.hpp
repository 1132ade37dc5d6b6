// What the scheduler's doings cost. Parameters of a simulation; bench/simulate/calibrate.cpp measures them.
#pragma once

#include <string_view>
#include <vector>

#include "bench/simulate/kernel.hpp"

namespace simulate {

/// In nanoseconds.
struct costs {
  double fork = 1.6;         ///< fork and join that no thief interferes with
  double fork_tasks = 1.6;   ///< the same by tasks
  double slow_push = 10;     ///< attend to a request: clear it, fence, share
  double slow_pop = 10;      ///< take back a public record: lock, fence
  double look = 4;           ///< look at one deque
  double round = 25;         ///< between two rounds over all deques
  double steal = 250;        ///< from the look that found a record to its first instruction on a new stack
  double arrive = 50;        ///< a stolen branch comes to its join
  double ended = 100;        ///< from there until its worker is free, if no strand waits for it
  double suspend = 160;      ///< an owner leaves its stack at a join
  double resume = 160;       ///< a suspended owner goes on
  double membarrier = 9000;  ///< the heavy fence of a thief that uses force and of a worker about to park
  double park = 1000;        ///< from having given up to being asleep, apart from the heavy fence
  double wake = 8500;        ///< what waking costs the waker
  double wakeup = 16000;     ///< from being woken to the first look around
  double interrupt = 100;    ///< a heavy fence for each further processor that it interrupts
  double line = 23;  ///< a cache line from another processor of the same complex, whose processors share a cache
  double complex_line = 107;  ///< the same from another complex
  double socket_line = 197;   ///< the same from another socket
  double complex = 8;         ///< not a time: processors of a complex
  double misses = 10;         ///< not a time: loads of lines at a time, where a worker looks at one deque after another
  double far = 3;             ///< not a time: looks, thefts and resumptions across nodes take so many times as long
  double stack_bytes = 8 << 20;  ///< not a time: fj::options::stack_size
  double frame_bytes = 96;       ///< not a time: what a call takes of its stack

  /// What a fork whose other side is stolen adds to a chain of forks, unless its thief had to use force or to wake.
  double of_theft() const noexcept { return fork + slow_push + look + steal + arrive + suspend + resume; }
};

struct cost_name {
  std::string_view name;
  double costs::* value;
  std::string_view meaning;
};

const std::vector<cost_name>& all_costs();

/// Throws std::invalid_argument for an unknown name or a value that is negative or not a number.
void set_cost(costs& of, std::string_view name, double value);

}  // namespace simulate
