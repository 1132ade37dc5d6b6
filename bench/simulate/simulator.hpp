// A discrete-event simulation of the library's scheduler on any number of Ps.
// Its rules are the runtime's own (runtime/sched), compiled for a machine on which they take simulated time
// (machine.hpp, hooks.hpp). They are in a namespace of their own, as the same programs use the library, too: so no type
// of the library stands here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bench/simulate/costs.hpp"
#include "bench/simulate/kernel.hpp"

namespace simulate {

/// Adaptive: not the library's; see adaptive_rule.
enum class order { first_child_first, last_child_first, adaptive };
enum class join { leave_stack, run_on_top, leapfrog, own };

/// As fj::policy.
struct policy {
  simulate::order order;
  simulate::join join;

  bool operator==(const policy&) const = default;

  static const policy continuations, tasks, adaptive;
};

inline constexpr policy policy::continuations{order::first_child_first, join::leave_stack};
inline constexpr policy policy::tasks{order::last_child_first, join::run_on_top};
inline constexpr policy policy::adaptive{order::adaptive, join::leave_stack};

/// When a P forks help-first, the last child first, and when work-first: by how often it is stolen from, as in SLAW
/// (Guo, Zhao, Cavé and Sarkar, "SLAW: a scalable locality-aware adaptive work-stealing scheduler", IPDPS 2010). It
/// begins help-first, so that all P soon have work, and chooses anew after each interval. A stack that is half full has
/// no more children on it: it forks help-first, too.
struct adaptive_rule {
  unsigned interval = 50;  ///< forks of the P
  unsigned thefts = 1;     ///< from it in an interval, from which on the next one is help-first
};

struct policy_name {
  std::string_view name;
  policy is;
};

/// All of them, fj::continuations and fj::tasks first. The others are named as the ways of bench/harness. Those with
/// fj::own_join if the library was built with a join rule.
std::span<const policy_name> all_policies() noexcept;

/// Of one that all_policies has, or of policy::adaptive.
std::string_view name_of(policy p) noexcept;

struct setup {
  unsigned procs = 1;
  policy steals = policy::continuations;
  costs cost;
  adaptive_rule adapts = {};
  std::uint64_t seed = 1;
  unsigned nodes = 1;       ///< of memory; each has as many P, one more at the most
  bool near_first = false;  ///< thieves look at all deques of their own node before the others
  bool awake = false;       ///< all workers are awake when the job starts, instead of asleep
  bool keep_order = false;  ///< computes result::order
  /// Processors act alone as long as no other can see it; if not, everything happens in order of time. For tests: no
  /// result depends on it, but for the order of what happens within a look where cache lines cost something.
  bool runs_ahead = true;
};

/// As fj::counters.
struct counts {
  std::uint64_t steals = 0, suspensions = 0, resumptions = 0, join_waits = 0, exposures = 0, publications = 0,
                slow_pushes = 0, slow_pops = 0, parks = 0, wakeups = 0;
};

struct result {
  picoseconds time = 0;          ///< from the start of the job to its end
  picoseconds worked = 0;        ///< serial work done by all P together
  counts count;                  ///< of all P together
  std::uint64_t far_steals = 0;  ///< those from another node
  picoseconds late = 0;          ///< from last arrivals to the next instruction of strands that waited, of all joins
  picoseconds most_late = 0;     ///< the largest
  /// For cache lines, all P together: those of the dispatcher and of the pool of stacks, and those of deques, joins and
  /// frames. Loads that overlap count in full.
  struct {
    picoseconds common = 0, others = 0;
  } waits;
  std::uint64_t deviations = 0;     ///< that a P did not go on with what comes next in the order of one P
  std::uint64_t repeated = 0;       ///< parts of loops, where a loop of as many parts came before
  std::uint64_t returned = 0;       ///< of those: run by the P that ran the same part before
  std::uint64_t peak_stacks = 0;    ///< as fj::stats::stacks_peak
  std::uint64_t deepest_deque = 0;  ///< highest index of a record, counted from 1
  std::uint64_t deepest_stack = 0;  ///< most calls on one stack
  std::uint64_t peak_frames = 0;    ///< most calls on all stacks at a time
  std::uint64_t order = 0;          ///< a hash of the nodes in the order in which they were entered
};

/// Deterministic: the same kernel and setup have the same result. Throws std::invalid_argument unless procs is 1 to
/// 4,096, nodes 1 to procs, the cost `far` 1 or more, and the cost `round` more than 0 if procs is more than 1; and
/// std::bad_alloc.
result simulate_run(const kernel& k, const setup& chosen);

}  // namespace simulate
