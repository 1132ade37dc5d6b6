// What FORKJOIN_STATS=1 prints.
#pragma once

#include <string>

#include "stats.hpp"

namespace fj::inline v0_1::detail {

/// What a runtime did, in words, with one hint; and below that the counters of each P. `steals_every_fork`: as the option
/// says, so that steals tell nothing.
std::string report(const stats& read, bool steals_every_fork);

}  // namespace fj::inline v0_1::detail
