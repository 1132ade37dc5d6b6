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

// A P that another worker gives to one that sleeps is not its own yet.
void system::wake_polled(worker& m, bool holds_processor) noexcept {
  if (!m.polled.any()) return;
  if (!holds_processor) set_current_worker(nullptr);
  m.polled.wake_all();
  set_current_worker(&m);
}

void resume(fiber& waited) noexcept {
  worker& m = *current_worker();
  ++m.count().resumptions;
  waited.becomes(fiber_state::runnable);
  m.sched().dispatcher().ready(waited);
}

}  // namespace fj::inline v0_1::detail
