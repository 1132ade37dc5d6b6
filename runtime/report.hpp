// What FORKJOIN_STATS=1 prints.
#pragma once

#include <cstdint>
#include <string>

#include "stats.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// The counters of each P, and then in words what a runtime did, as far as counters can tell what a trace's summary does, with one hint. `steals_every_fork`: the option is
/// on, so steals tell nothing. `chaos`: that option's seed, which goes before the times.
std::string report(const stats& read, bool steals_every_fork, std::uint64_t chaos = 0);

}}}  // namespace fj::v0_2::detail
