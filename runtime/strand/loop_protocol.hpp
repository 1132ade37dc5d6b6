// What two kinds of strands do in a loop of forks: the home strand, which joins it, and thieves of its rest.
// fork_loop.hpp describes the protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/strand/hooks.hpp"
#include "runtime/strand/wait_at_join.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A template, because its steps are fork_loop.cpp's own, or the model's. Of these `running` is the running strand;
/// `loop_stand_in` is made of the rest that it stands for; `offer(rest, in_place)` pushes what stands in place of the
/// rest, and `take_back(in_place)` pops it, false if the rest was stolen; count_wait() counts a join that is not
/// complete. `loop` is a fork_loop.
template <class Steps>
struct loop_protocol {
  using fiber = strand_hooks::fiber;

  // The home strand.

  /// Waits for all iterations from `first` on.
  static void join_from(auto& loop, std::size_t first) noexcept {
    loop.joined.stolen(static_cast<std::int64_t>(loop.count - first));
    loop.home = &Steps::running();
    if (!loop.joined.all_arrived()) Steps::count_wait();
    wait_for_all(loop.joined);
  }

  /// Runs all iterations as a thief would, and waits for them.
  static void run_as_stolen(auto& loop) noexcept {
    loop.rest.next = 0;
    const std::size_t end = run_first_stolen_iterations(loop, 0);
    if (end != loop.count) join_from(loop, end);
  }

  // A thief.

  /// Goes on with the loop. Returns how many iterations it answers for at the join.
  static std::size_t go_on_with(auto& rest) noexcept {
    auto& loop = rest.of;
    const std::size_t first = rest.next;
    const bool is_first = &rest == &loop.rest;
    return (is_first ? run_first_stolen_iterations(loop, first) : run_stolen_iterations(loop, first)) - first;
  }

  /// After that.
  [[noreturn]] static void end_thief(auto& loop, std::size_t iterations) noexcept {
    fiber* home = nullptr;
    // If it does not say that the home strand waits, the loop may be gone.
    if (loop.joined.arrive(static_cast<std::int64_t>(iterations))) {
      const os::unseen_by_detector pause;  // the home strand goes on after this look, as this strand resumes it
      home = loop.home;
    }
    strand_hooks::end_strand(home);
  }

 private:
  // Runs the turns from `turn` on until the rest is stolen. Returns the first that another thief runs.
  static std::size_t run_stolen_iterations(auto& loop, std::size_t iteration) noexcept {
    auto& rest = loop.stolen_rest;
    typename Steps::loop_stand_in offered(rest);
    while (iteration + 1 != loop.count) {
      if (!loop.start_stolen(iteration)) return loop.count;
      rest.next = iteration + 1;
      Steps::offer(rest, offered);
      const bool more = loop.run_stolen(iteration++);
      if (!Steps::take_back(offered)) return iteration;
      if (!more) return loop.count;
    }
    if (loop.start_stolen(iteration)) loop.run_stolen(iteration);
    return loop.count;
  }

  static std::size_t run_first_stolen_iterations(auto& loop, std::size_t iteration) noexcept {
    std::construct_at(&loop.stolen_rest, loop);
    return loop.begin_stolen() ? run_stolen_iterations(loop, iteration) : loop.count;
  }
};

}}}  // namespace fj::v0_4::detail
