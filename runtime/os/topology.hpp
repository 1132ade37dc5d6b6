// How much of the machine this process may use.
#pragma once

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

/// CPUs this process may run on at once: its affinity mask, and the quota of its cgroup (v2 cpu.max, v1
/// cpu.cfs_quota_us; the tightest on the way to the root), rounded up. At least 1. Tests put another folder before the
/// names of the files, by `root`.
unsigned available_cpus(const char* root = "") noexcept;

// The two parts of that, for a look at what has changed. 0: the system does not say now, as for want of descriptors.

/// By the affinity mask of the calling thread.
unsigned cpus_of_thread() noexcept;
/// By the quota, rounded up; the largest number if there is none.
unsigned cpus_of_quota(const char* root = "") noexcept;

}}}}  // namespace fj::v0_2::detail::os
