// What a program learns of its fibers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fj { inline namespace v0_4 {

/// How many fibers there are, in all runtimes of the process.
struct fiber_counts {
  std::size_t running = 0;  ///< on a thread, in blocking calls, too
  std::size_t ready = 0;    ///< they could go on, and wait for a P
  std::size_t waiting = 0;  ///< for a channel, a lock, a time, a descriptor, a join
  std::size_t all() const noexcept { return running + ready + waiting; }
};

/// A call in the program, as the compiler names it.
struct fiber_place {
  const char* file = "";
  const char* function = "";
  std::uint_least32_t line = 0;  ///< 0: not known
};

/// A fiber that waits, and for what.
struct waiting_fiber {
  unsigned number = 0;    ///< as in fj::print_fibers and in traces
  const char* what = "";  ///< the function that waits, such as fj::channel::send
  fiber_place waits;      ///< the call of it
  fiber_place started;    ///< the call of go; none of a fiber that a fork or run started
};

/// What fj::lost_fibers found.
struct lost_report {
  std::vector<waiting_fiber> fibers;  ///< that are lost
  /// If not empty: why it cannot be said which fibers are lost. Then `fibers` is empty.
  std::string not_available;
  std::vector<waiting_fiber>
      wait_long;  ///< only then: those that have waited longest since calls look at them, ten at most

  /// In words, a line for each place; empty if no fiber is lost. Throws std::bad_alloc.
  std::string text() const;
};

namespace detail {

/// As their namesakes in forkjoin/go/print_fibers.hpp.
void print_fibers() noexcept;
bool print_fibers_on(int signal) noexcept;
std::string describe_fibers();
fiber_counts count_fibers() noexcept;
/// As fj::lost_fibers.
lost_report find_lost_fibers();

}  // namespace detail

}}  // namespace fj::v0_4
