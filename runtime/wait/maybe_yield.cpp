#include "forkjoin/abi/maybe_yield.hpp"

#include "runtime/base/tuning.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/sched/worker.hpp"
#include "runtime/strand/give_way.hpp"
#include "runtime/wait/job_of_go.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

void maybe_yield_slow() noexcept {
  os::schedule_point();
  worker* const m = current_worker();
  if (m && current_fiber() && current_fiber()->keeps_worker) return;
  if (m && m->proc->chaos.once_in(tuning::waits_per_chaotic_yield)) return yield_strand();
  give_way_if_asked();
}

}}}  // namespace fj::v0_4::detail
