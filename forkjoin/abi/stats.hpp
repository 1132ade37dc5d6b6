// The counters of a runtime, for its users.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fj { inline namespace v0_4 {

/// Counters of one P or of several together. All but stacks_in_use only grow. They can be read at any time; the values
/// of one reading need not be of one moment.
struct counters {
  std::uint64_t steals = 0;  ///< records taken from another strand's deque
  /// waits at joins, for another runtime's job, and in calls of <forkjoin/go.hpp>, that left their stack or were about
  /// to
  std::uint64_t suspensions = 0;
  std::uint64_t resumptions = 0;   ///< fibers that waited at a join and went on
  std::uint64_t join_waits = 0;    ///< joins that were not complete when their strand came to them
  std::uint64_t exposures = 0;     ///< deques whose private records a thief made public by force
  std::uint64_t publications = 0;  ///< times that an owner made private records public
  std::uint64_t most_public = 0;   ///< the most public records of one deque; if stats::forks_fence, all are public
  std::uint64_t slow_pushes = 0;   ///< pushes that found a request
  /// Pops that got their record back on the slow path: it was public, or a thief was forcing it.
  std::uint64_t slow_pops = 0;
  std::uint64_t parks = 0;    ///< times a worker found no work and gave up its P
  std::uint64_t wakeups = 0;  ///< workers woken or started
  /// Stacks taken and not given back: fibers that run or wait, and some free stacks that P keep.
  std::uint64_t stacks_in_use = 0;
  std::uint64_t stacks_peak = 0;  ///< the largest stacks_in_use so far; of several P together, the sum of their peaks
  std::uint64_t busy_ns = 0;      ///< nanoseconds in which a thread held the P to run strands; of several P, the sum
  /// Nanoseconds in which a thread held the P to look for work; the rest of the time the P was idle.
  std::uint64_t looking_ns = 0;
  std::uint64_t blocking_calls = 0;  ///< calls of fj::blocking and fj::blocking_now
  std::uint64_t retakes = 0;         ///< times that the P was taken from such a call, for other work
  std::uint64_t preemptions = 0;     ///< strands that gave their P to a fiber that waited for it, after 10 ms

  // Lateness of a join that waited: how long after the last branch had come to it the strand went on.
  std::uint64_t late_ns = 0;       ///< nanoseconds, the sum over joins
  std::uint64_t most_late_ns = 0;  ///< the largest
  /// How many joins were late by less than 1, 10, 100 us, 1 ms, 10 ms, and by more.
  std::array<std::uint64_t, 6> joins_late = {};
  /// Nanoseconds in which strands that waited at a join ran other records on top of their stack.
  std::uint64_t on_top_ns = 0;
  /// Nanoseconds from the begin to the end of stolen branches, their waits and what they forked included; the sum, and
  /// the longest. A thief of a scope's parent is not counted, as that has no end of its own.
  std::uint64_t stolen_ns = 0, longest_stolen_ns = 0;

  // How long fibers that could go on waited for a P. Where a strand makes another one ready, every eighth time is
  // measured.
  std::uint64_t ready_ns = 0;       ///< nanoseconds, the sum: of what is measured, and of the others by that
  std::uint64_t most_ready_ns = 0;  ///< the largest that was measured

  std::uint64_t urgent_turns = 0;          ///< urgent fibers that went before others
  std::uint64_t most_urgent_ready_ns = 0;  ///< nanoseconds: the longest that one waited for a P

  counters& operator+=(const counters& other) noexcept {
    steals += other.steals;
    suspensions += other.suspensions;
    resumptions += other.resumptions;
    join_waits += other.join_waits;
    exposures += other.exposures;
    publications += other.publications;
    most_public = (std::max)(most_public, other.most_public);
    slow_pushes += other.slow_pushes;
    slow_pops += other.slow_pops;
    parks += other.parks;
    wakeups += other.wakeups;
    stacks_in_use += other.stacks_in_use;
    stacks_peak += other.stacks_peak;
    busy_ns += other.busy_ns;
    looking_ns += other.looking_ns;
    blocking_calls += other.blocking_calls;
    retakes += other.retakes;
    preemptions += other.preemptions;
    late_ns += other.late_ns;
    most_late_ns = (std::max)(most_late_ns, other.most_late_ns);
    for (std::size_t i = 0; i != joins_late.size(); ++i) joins_late[i] += other.joins_late[i];
    on_top_ns += other.on_top_ns;
    stolen_ns += other.stolen_ns;
    longest_stolen_ns = (std::max)(longest_stolen_ns, other.longest_stolen_ns);
    ready_ns += other.ready_ns;
    most_ready_ns = (std::max)(most_ready_ns, other.most_ready_ns);
    urgent_turns += other.urgent_turns;
    most_urgent_ready_ns = (std::max)(most_urgent_ready_ns, other.most_urgent_ready_ns);
    return *this;
  }
};

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
  /// Without membarrier(2): how often a thread did not answer the signal in its place, because it blocks it or had no
  /// CPU.
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

}}  // namespace fj::v0_4
