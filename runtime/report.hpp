// What FORKJOIN_STATS=1 prints.
#pragma once

#include <cstdint>
#include <string>

#include "forkjoin/abi/stats.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// What a report says beside the counters.
struct report_options {
  bool steals_every_fork = false;  ///< the option is on, so steals tell nothing
  std::uint64_t chaos = 0;         ///< that option's seed, which goes before the times
  // Of the process's threads while the runtime lived, by os::time_of_threads.
  std::uint64_t ran_ns = 0;
  std::uint64_t queued_ns = 0;
};

/// The counters of each P, and then in words what a runtime did, as far as counters can tell what a trace's summary
/// does, with one hint: what most of the time of its P was lost to.
std::string report(const stats& read, const report_options& as = {});

}}}  // namespace fj::v0_4::detail
