// The flight recorder: the newest events of a runtime, which are written when something has gone wrong.
//
// Source: Go's runtime/trace.FlightRecorder.
#pragma once

namespace fj { inline namespace v0_4 { namespace detail {

struct instance;

/// Writes the events into the recorder's file, and says so, or why not. Nothing if there is no recorder.
void write_flight(instance& of) noexcept;

/// From now on the monitor writes them, and the backtrace of a strand that keeps its P for long while others are ready.
/// Throws std::invalid_argument.
void report_long_runs(instance& of);

}}}  // namespace fj::v0_4::detail
