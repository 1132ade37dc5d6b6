// A discrete-event simulation of the library's scheduler on any number of P.
//
// The deque, the join and the rules of parking are the library's own templates; what is told again here is what stands
// around them: the slow paths of an owner (runtime/slow/fork_slow.cpp, runtime/slow/tasks.cpp), how workers look for work (runtime/schedule/find_work.cpp), park
// and wake each other (runtime/schedule/scheduler.cpp, runtime/schedule/thread_main.cpp). The names are the same; a change there belongs
// here as well.
#pragma once

#include <cstdint>
#include <string_view>

#include "bench/simulate/costs.hpp"
#include "bench/simulate/kernel.hpp"
#include "runtime/base/counters.hpp"
#include "runtime/base/tuning.hpp"

namespace simulate {

enum class policy { continuations, tasks };

std::string_view name_of(policy p) noexcept;

struct setup {
  unsigned procs = 1;
  policy steals = policy::continuations;
  costs cost;
  std::uint64_t seed = 1;
  bool awake = false;       ///< all workers are awake when the job starts, instead of asleep
  bool keep_order = false;  ///< computes result::order
  /// Processors act alone as long as nobody can see it; if not, everything happens in order of time. For tests: no result
  /// depends on it.
  bool runs_ahead = true;
};

struct result {
  picoseconds time = 0;             ///< from the start of the job to its end
  picoseconds worked = 0;           ///< serial work done by all P together
  fj::counters count;               ///< as fj::stats, of all P together
  std::uint64_t waits = 0;          ///< joins at which a strand waited: suspended, or ran other tasks on top
  std::uint64_t peak_stacks = 0;    ///< as fj::stats::stacks_peak
  std::uint64_t deepest_deque = 0;  ///< highest index of a record, counted from 1
  std::uint64_t deepest_stack = 0;  ///< most calls on one stack
  std::uint64_t peak_frames = 0;    ///< most calls on all stacks at a time
  std::uint64_t order = 0;          ///< a hash of the nodes in the order in which they were entered
};

// The library's own constants (runtime/base/tuning.hpp), in picoseconds.
inline constexpr picoseconds search_time = 1000 * fj::detail::tuning::search_ns;
inline constexpr picoseconds patience_time = 1000 * fj::detail::tuning::patience_ns;
inline constexpr picoseconds short_work_time = 1000 * fj::detail::tuning::short_work_ns;
inline constexpr picoseconds long_public_time = 1000 * fj::detail::tuning::long_public_ns;
using fj::detail::tuning::exposed_at_a_time;
using fj::detail::tuning::least_frame;
using fj::detail::tuning::rounds_per_look;
using fj::detail::tuning::stacks_at_hand;
using fj::detail::tuning::ticks_per_look;
using fj::detail::tuning::top_rounds;

/// Deterministic: the same kernel and setup have the same result. Throws std::invalid_argument unless procs is 1 to
/// 4,096, and std::bad_alloc.
result simulate_run(const kernel& k, const setup& chosen);

}  // namespace simulate
