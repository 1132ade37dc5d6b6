// How many of the machine's CPUs this process may use, and which of them are near each other.
#pragma once

#include <vector>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// CPUs this process may run on at once: its affinity mask, and the quota of its cgroup (v2 cpu.max, v1
/// cpu.cfs_quota_us; the tightest on the way to the root), rounded up. At least 1. Tests put another folder before the
/// names of the files, by `root`.
unsigned available_cpus(const char* root = "") noexcept;

// The two parts of that, for a look at what has changed. 0: the system does not say now, as for want of descriptors.

/// By the affinity mask of the calling thread.
unsigned cpus_of_thread() noexcept;
/// By the quota, rounded up; the largest number if there is none.
unsigned cpus_of_quota(const char* root = "") noexcept;

/// Where a CPU is, and how fast. What the system does not say, or says in a form that is not known, has the value given
/// here, which CPUs without an answer have in common.
struct cpu_place {
  int node = 0;    ///< of memory
  int cache = -1;  ///< the lowest CPU that shares its last-level cache; -1: not known
  int kind = 0;    ///< in machines with CPUs of several kinds: 0 for the slowest, one more for each that is faster
};

/// On which CPU the calling thread runs; -1: not known.
int this_cpu() noexcept;

/// The places of all CPUs, by their number. Empty: nothing is known. `root` as above.
std::vector<cpu_place> cpu_places(const char* root = "") noexcept;

}}}}  // namespace fj::v0_4::detail::os
