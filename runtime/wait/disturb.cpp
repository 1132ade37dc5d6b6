#include "runtime/wait/disturb.hpp"

#include "runtime/base/tuning.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/wait/go_root.hpp"
#include "runtime/workers/worker.hpp"

namespace fj::inline v0_1::detail {

std::atomic<bool> any_chaos{false};

void disturb_slow() noexcept {
  worker* const m = current_worker();
  if (m && m->proc->chaos.once_in(tuning::waits_per_chaotic_yield)) yield_strand();
}

}  // namespace fj::inline v0_1::detail
