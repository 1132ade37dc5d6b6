// How many P of a runtime are in use, and whether that follows what the system allows: the affinity mask and the
// cgroup's quota.
//
// The monitor looks once a second at most, and not while it rests. So a program that only forks pays nothing, and its
// number of Ps stays. Source: sysmonUpdateGOMAXPROCS and defaultGOMAXPROCS in Go's runtime/proc.go (1.25).
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class dispatcher;

class allowance {
 public:
  /// All of the P are in use. `now`: by os::now_ns, here and below.
  allowance(dispatcher& whose, unsigned procs, bool follows, std::int64_t now) noexcept
      : dispatcher_(whose), procs_(procs), follows_(follows), masked_(procs), looks_after_(now) {}

  /// So many from now on, from 1 to all, whatever the system allows.
  void use(unsigned procs) noexcept FORKJOIN_EXCLUDES(mutex_);

  /// As many as the system allows the calling thread now, at most all; from now on the monitor's looks may change that.
  void follow() noexcept FORKJOIN_EXCLUDES(mutex_);

  /// By the monitor, from its thread. Nothing if the number does not follow, or if the last look is not long ago. Else
  /// it takes about 50 us.
  void look(std::int64_t now) noexcept FORKJOIN_EXCLUDES(mutex_);

 private:
  void use_what_is_allowed() noexcept FORKJOIN_REQUIRES(mutex_);

  dispatcher& dispatcher_;
  const unsigned procs_;
  os::mutex mutex_;
  std::atomic<bool> follows_;                         // changed under the mutex
  unsigned masked_ FORKJOIN_GUARDED_BY(mutex_);       // what affinity masks allow
  unsigned quota_ FORKJOIN_GUARDED_BY(mutex_) = ~0u;  // what the cgroup allows
  // The monitor's own.
  unsigned own_mask_ = 0;  // what its thread's mask allowed at its last look; 0: it has not looked
  std::int64_t looks_after_;
};

}}}  // namespace fj::v0_4::detail
