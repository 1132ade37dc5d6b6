// The interface between the harness and the ways of a kernel. Each way of each kernel is compiled by itself, so that no
// way sees another's headers. main.cpp and once.cpp use the ways through this interface alone.
//
// A kernel is a header bench/kernels/<kernel>/<kernel>.hpp with a namespace of that name in bench, which holds
//
//   inline constexpr kernel description{...};    // as below
//   template <class Way> class problem {         // Way: one of harness/ways/, the policy that the algorithm forks by
//     explicit problem(long size);               // outside the clock: the input
//     void reset();                              // optional, outside the clock, before each run: restores the input
//     void run();                                // inside the clock, on the way's workers
//     std::uint64_t result();                    // outside the clock: a digest, compared with description.expected
//   };
//
// and a source serial.cpp beside it, the serial program written by hand: it defines problem<ways::serial>::run().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// Sizes to measure: in tests (about a second for all of them), by default, with --full.
struct sizes {
  std::span<const long> test, quick, full;
};

struct kernel {
  std::string_view name;
  sizes measured;

  // Whether the recursion ends in serial work of a chosen size.
  bool cut_off;

  // Whether two processors should be twice as fast: work over span is large, and memory is not the limit.
  bool parallel;

  // The right digest. For an unknown size it throws std::invalid_argument, with the known sizes.
  std::uint64_t (*expected)(long size);

  // The number of forks of two in a run; nullptr if it depends on the schedule or is not known.
  std::uint64_t (*forks)(long size) = nullptr;

  // What tells this size from others: its name in the literature, such as T1, its shape, or the order of its nodes;
  // empty or nullptr if there is no more to say.
  std::string_view (*label)(long size) = nullptr;

  // Whether it is a program of parallel loops. Its serial way then has plain loops in their place, and may be another
  // algorithm.
  bool over_loops = false;

  // Bytes of stack that a worker or fiber needs; 0: the default of its library.
  std::size_t stack_size = 0;
};

using counter_list = std::vector<std::pair<std::string_view, std::uint64_t>>;

// A way with its workers and, once prepared, the kernel's problem. Made before the clock starts, destroyed after it has
// stopped.
class team {
 public:
  team() = default;
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  virtual ~team() = default;

  virtual void prepare(long size) = 0;
  virtual bool resets() const = 0;
  virtual void reset() = 0;
  virtual void run() = 0;
  virtual std::uint64_t result() = 0;

  // Counted since the team was made; empty for ways that do not count.
  virtual counter_list counters() const = 0;
};

struct way {
  std::string_view name;
  bool parallel;
  std::unique_ptr<team> (*assemble)(int procs);
  bool measured = true;  // false: a check needs it
};

// The kernels of a binary: first the one that names it, then others if there are any, such as flat beside fib.
struct entry {
  const kernel* what;
  std::vector<way> ways;
};
std::vector<entry> entries();

}  // namespace bench
