// Makes the settings of a runtime from the user's options and the environment variables. Variables of the whole process
// (FORKJOIN_STATS, FORKJOIN_SIGQUIT, FORKJOIN_DEADLOCK) are read where they act: instances.cpp, entry.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "forkjoin/abi/options.hpp"
#include "runtime/base/settings.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Resolves defaults (environment, affinity, cgroup, membarrier) and checks values. Throws std::invalid_argument with a
/// message that names the value and the remedy.
settings resolve(const options& wanted);

/// The schedule of a new runtime: of the options, or FORKJOIN_SCHEDULE. Seed 0: none. Throws like resolve.
replay schedule_from(const options& wanted);

/// Where a new runtime is to trace; empty: nowhere. Each call that finds FORKJOIN_TRACE is one for another runtime.
std::string trace_file(const options& wanted);

/// The same for its flight recorder: FORKJOIN_FLIGHT_RECORDER.
std::string flight_recorder_file(const options& wanted);
/// After how long a run of a strand is reported: FORKJOIN_LONG_RUN_MS, in nanoseconds; 0: never. Throws like resolve.
std::int64_t long_run_from_environment();

/// How many events a trace keeps of each thread: FORKJOIN_TRACE_EVENTS, rounded up to a power of two. Throws like
/// resolve.
std::uint64_t trace_events_from_environment();

/// How a process is to look for lost fibers: FORKJOIN_LOST, FORKJOIN_LOST_HEAP and FORKJOIN_LOST_MS.
struct lost_fibers_watch {
  std::size_t most_bytes = 0;  ///< of its memory, up to which it looks; 0: never
  std::int64_t rest_ns = 0;    ///< nanoseconds between two looks, at least
};
/// Throws like resolve.
lost_fibers_watch lost_fibers_from_environment();

/// Whether the environment variable is 1 or 0; `otherwise` if it is unset or empty. Throws like resolve.
bool flag_from_environment(const char* name, bool otherwise);

}}}  // namespace fj::v0_4::detail
