// A loop of forks with one join: its iterations start in order, thieves take the rest of the loop, and one join counts
// all stolen iterations. runtime/README.md describes the life of such a loop.
//
// The strand that begins the loop is its home strand. It offers the rest of the loop: a record that says which
// iteration is next. A thief that takes the rest goes on with the loop on another stack, and offers the rest to the
// next thief. So at each moment there is one rest. The thieves share a second record, in the frame of the home strand,
// which outlives all of them. Each thief pushes a stand-in for that record, which lies in the thief's own frame. A
// thief whose rest was stolen need not wait: it arrives at the join for the iterations that it ran, and ends.
#pragma once

#include <cstddef>

#include "forkjoin/abi/continuation.hpp"
#include "forkjoin/abi/counting_join.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct fiber;
struct fork_loop;

/// What a thief of the rest of a loop calls. Never returns.
[[gnu::aligned(16)]] outcome go_on_with_loop(continuation& self) noexcept;

/// The iterations of a loop from `next` on.
struct loop_rest : continuation {
  [[gnu::always_inline]] explicit loop_rest(fork_loop& whose) noexcept : continuation(&go_on_with_loop), of(whose) {}

  fork_loop& of;
  std::size_t next;    ///< set before each push
  join* until_stolen;  ///< with steal_every_fork: where a thief that offers the rest waits until it has been stolen
};

/// Lies in the frame of the home strand.
struct fork_loop {
  [[gnu::always_inline]] explicit fork_loop(std::size_t iterations) noexcept : count(iterations), rest(*this) {}
  fork_loop(const fork_loop&) = delete;
  fork_loop& operator=(const fork_loop&) = delete;

  /// Called by a thief, before it offers what comes after that iteration. False if neither that iteration nor a later
  /// one is to start.
  virtual bool start_stolen(std::size_t) noexcept { return true; }
  /// Called by a thief. Runs that iteration, and keeps its result or exception. False if no iteration after it is to
  /// start.
  virtual bool run_stolen(std::size_t iteration) noexcept = 0;
  /// Called by the first thief, before any stolen iteration; rest.next is the first of them. False if no iteration is
  /// to start.
  virtual bool begin_stolen() noexcept { return true; }

  const std::size_t count;  ///< of iterations
  loop_rest rest;           ///< what the home strand offers
  union {
    loop_rest stolen_rest;  ///< what thieves offer; made by the first of them
  };
  counting_join joined;  ///< of the stolen iterations
  fiber* home;           ///< the home strand, once it waits

 protected:
  ~fork_loop() {}
};

/// Waits until thieves have run all iterations from rest.next on. By the home strand, when its rest was stolen.
[[gnu::cold]] void join_loop_slow(fork_loop& loop) noexcept;

/// Runs all iterations as a thief would, and waits for them.
[[gnu::cold]] void run_as_stolen(fork_loop& loop) noexcept;

}}}  // namespace fj::v0_4::detail
