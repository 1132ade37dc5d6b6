// How a fiber that waited becomes ready.
#include "runtime/fork/current.hpp"
#include "runtime/schedule/local_queue.hpp"
#include "runtime/workers/execute.hpp"
#include "runtime/workers/scheduler.hpp"

namespace fj::inline v0_1::detail {

void make_ready(scheduler& s, fiber& f) noexcept {
  worker* const m = current_worker();
  if (m && &m->sched() == &s) {
    basic_local_queue<system>::ready(*m, f);
  } else {
    s.dispatcher().ready(f);
  }
}

void resume(fiber& waited) noexcept {
  worker& m = *current_worker();
  ++m.count().resumptions;
  waited.becomes(fiber_state::runnable);
  m.sched().dispatcher().ready(waited);
}

}  // namespace fj::inline v0_1::detail
