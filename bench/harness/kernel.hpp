// What the harness knows of a kernel and of its ways. Each way of each kernel is compiled by itself, so that none sees
// another's headers; main.cpp and once.cpp see them through this interface alone.
//
// A kernel is a header bench/<kernel>/<kernel>.hpp with a namespace of that name in bench, which holds
//
//   inline constexpr kernel description{...};    // as below
//   template <class Way> class problem {         // Way: one of harness/ways/, the policy that the algorithm forks by
//     explicit problem(long size);               // outside the clock: the input
//     void reset();                              // optional, outside the clock, before each run: restores the input
//     void run();                                // inside the clock, on the way's workers
//     std::uint64_t result();                    // outside the clock: a digest, compared with description.expected
//   };
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

// Sizes to measure: in tests (all of them within a second or so), by default, with --full.
struct sizes {
  std::span<const long> test, quick, full;
};

struct kernel {
  std::string_view name;
  sizes measured;

  // Whether the recursion ends in serial work that was chosen to be large.
  bool cut_off;

  // Whether two processors can be expected to be twice as fast: work over span is large, and memory is not the limit.
  bool parallel;

  // The right digest; throws std::invalid_argument, with the sizes that there are, for one that it does not know.
  std::uint64_t (*expected)(long size);

  // How many forks of two a run does; nullptr where that depends on the schedule or nobody counted.
  std::uint64_t (*forks)(long size) = nullptr;

  // What the size is called in the literature, such as T1; nullptr: by its number.
  std::string_view (*label)(long size) = nullptr;

  // Bytes of stack that a worker or fiber wants; 0: as much as its library gives.
  std::size_t stack_size = 0;
};

using counter_list = std::vector<std::pair<std::string_view, std::uint64_t>>;

// A way with its workers, and the kernel's problem once it is prepared: made before the clock starts, gone after it has
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

  // Since the team was made; empty for ways that do not count.
  virtual counter_list counters() const = 0;
};

struct way {
  std::string_view name;
  bool parallel;
  std::unique_ptr<team> (*assemble)(int procs);
};

// What a binary was built with: the kernel it is named after, then others if there are any, such as flat beside fib.
struct entry {
  const kernel* what;
  std::vector<way> ways;
};
std::vector<entry> entries();

}  // namespace bench
