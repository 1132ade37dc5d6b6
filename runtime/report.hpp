// What FORKJOIN_STATS=1 prints.
#pragma once

#include <string>

#include "stats.hpp"

namespace fj::inline v0_1::detail {

/// Says in words what a runtime did, with one hint, and then the counters of each P. `steals_every_fork`: the option is
/// on, so steals tell nothing.
std::string report(const stats& read, bool steals_every_fork);

}  // namespace fj::inline v0_1::detail
