// What the ways of computing fib have in common. Each way (serial, continuations, tasks, oneTBB) stands in a source of
// its own, so that none is compiled with another's headers; main.cpp and once.cpp see them through this interface alone.
//
// A team is a way with its workers: made before the clock starts, gone after it has stopped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

using counter_list = std::vector<std::pair<std::string_view, std::uint64_t>>;

class team {
 public:
  team() = default;
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  virtual ~team() = default;

  virtual long fib(int n) = 0;        // recursive, a fork for every call with n > 1: no cut-off
  virtual long flat(long count) = 0;  // count forks of two leaves each, in a loop; returns how many leaves ran

  // Since the team was made; empty for ways that do not count.
  virtual counter_list counters() const { return {}; }
};

struct way {
  std::string_view name;
  bool parallel;
  std::unique_ptr<team> (*assemble)(int procs);
};

std::vector<way> serial_ways();
std::vector<way> continuations_ways();
std::vector<way> tasks_ways();
std::vector<way> tbb_ways();  // empty if built without oneTBB

std::string tbb_description();

inline std::vector<way> all_ways() {
  std::vector<way> all;
  for (auto list : {serial_ways, continuations_ways, tasks_ways, tbb_ways}) {
    for (const way& w : list()) all.push_back(w);
  }
  return all;
}

inline constexpr int smallest_n = 0;
inline constexpr int largest_n = 90;  // fib(92) is the last that a 64-bit long holds

constexpr long expected_fib(int n) {
  long a = 0;
  long b = 1;
  for (; n > 0; --n) a = std::exchange(b, a + b);
  return a;
}
static_assert(expected_fib(35) == 9'227'465);

constexpr long expected_flat(long count) { return 2 * count; }

// An empty leaf that no compiler sees through: neither the call nor its result can be left out.
[[gnu::noinline]] inline long leaf() {
  long one = 1;
  asm volatile("" : "+r"(one)::"memory");
  return one;
}

}  // namespace bench
