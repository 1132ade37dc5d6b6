// The counters of a runtime, for its users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/counters.hpp"

namespace fj { inline namespace v0_2 {

/// A reading of all counters of a runtime.
struct stats {
  std::vector<counters> procs;    ///< one for each P
  unsigned procs_in_use = 0;      ///< as runtime::procs_in_use
  std::size_t stacks_in_use = 0;  ///< fibers that run or wait, and some free stacks that P keep
  std::size_t stacks_peak = 0;
  std::uint64_t lived_ns = 0;    ///< nanoseconds since the runtime was made
  std::uint64_t working_ns = 0;  ///< nanoseconds of these in which a call of run was under way
  std::uint64_t alone_ns = 0;    ///< nanoseconds of these in which exactly one P was busy
  /// Nanoseconds of alone_ns in loops too short to be shared; at most, as such loops are counted and not timed.
  std::uint64_t short_loops_ns = 0;
  std::uint64_t none_busy_ns = 0;     ///< nanoseconds of working_ns in which no P was busy: all strands waited
  std::uint64_t threads_refused = 0;  ///< how often the system refused a thread
  std::uint64_t retakes_refused = 0;  ///< calls of fj::blocking that kept their P, because there was no thread for it
  /// Neither membarrier(2) nor a signal in its place is to be had, so each fork passes a fence.
  bool forks_fence = false;
  /// Without membarrier(2): how often a thread did not answer the signal in its place, because it blocks it or had no processor.
  std::uint64_t fences_unanswered = 0;
  std::uint64_t schedule_choices = 0;  ///< with options::schedule: how often it was chosen which thread goes on
  std::uint64_t schedule_hash = 0;     ///< of these choices: two runs with one hash took the same course

  /// The sum over all P.
  counters total() const noexcept {
    counters sum;
    for (const counters& p : procs) sum += p;
    return sum;
  }
};

}}  // namespace fj::v0_2
