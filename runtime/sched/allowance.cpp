#include "runtime/sched/allowance.hpp"

#include <algorithm>

#include "runtime/base/tuning.hpp"
#include "runtime/os/topology.hpp"
#include "runtime/sched/dispatcher.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

void allowance::use(unsigned procs) noexcept {
  const locked lock(mutex_);
  follows_.store(false, std::memory_order_relaxed);
  dispatcher_.use(procs);
}

void allowance::follow() noexcept {
  const unsigned mask = os::cpus_of_thread(), quota = os::cpus_of_quota();
  const locked lock(mutex_);
  follows_.store(true, std::memory_order_relaxed);
  if (mask != 0) masked_ = mask;
  if (quota != 0) quota_ = quota;
  use_what_is_allowed();
}

// The program may have bound the thread that needed the monitor, and so the monitor's thread, to fewer CPUs than
// others have. So the mask counts from when it changes: a cpuset, and `taskset -a`, change the masks of all threads.
void allowance::look(std::int64_t now) noexcept {
  if (!follows_.load(std::memory_order_relaxed)) return;
  if (own_mask_ == 0) own_mask_ = os::cpus_of_thread();  // at the first look, which is early
  if (now - looks_after_ < tuning::between_allowances_ns) return;
  looks_after_ = now;
  const unsigned mask = os::cpus_of_thread(), quota = os::cpus_of_quota();
  const locked lock(mutex_);
  if (mask != 0) {
    if (own_mask_ != 0 && own_mask_ != mask) masked_ = mask;
    own_mask_ = mask;
  }
  if (quota != 0) quota_ = quota;
  if (follows_.load(std::memory_order_relaxed)) use_what_is_allowed();
}

void allowance::use_what_is_allowed() noexcept { dispatcher_.use((std::min)({procs_, masked_, quota_})); }

}}}  // namespace fj::v0_4::detail
