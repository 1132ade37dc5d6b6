// The start of the profile, and what it has found at the end.
#pragma once

#include "runtime/profile/paths.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

/// Before the first call of run begins. Measures what readings take, the first time.
void start() noexcept;

/// Of the profile itself, by forks of nothing: strands.hpp.
void measure_costs();

/// Ticks that a theft takes: FORKJOIN_PROFILE_THEFT_NS.
inline double theft_ticks = 0;

/// A call of run is under way.
inline bool is_in_run = false;

/// All calls of run, one after the other.
inline path of_all_runs{};

/// Tells what was found: as JSON in the file FORKJOIN_PROFILE_OUT, or as a table to standard error.
void report_at_exit() noexcept;

}}}}  // namespace fj::v0_4::detail::profile
