// How a fiber that waited becomes ready.
#include <cstddef>

#include "runtime/base/cache_line.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/schedule/local_queue.hpp"
#include "runtime/workers/execute.hpp"
#include "runtime/workers/scheduler.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

namespace {

// What the fiber reads first when it goes on: its last frames. The strand that wakes it goes on for some time, so that memory is
// there by then.
void prefetch_stack(const fiber& f) noexcept {
  constexpr std::size_t frames = 512;
  const auto* const newest = static_cast<const std::byte*>(f.context.registers);
  for (std::size_t at = 0; at < frames; at += cache_line) __builtin_prefetch(newest + at, 1);
}

}  // namespace

void make_ready(scheduler& s, fiber& f) noexcept {
  prefetch_stack(f);
  worker* const m = current_worker();
  // The fiber may go on and end its runtime before ready returns. That end waits for the runtime's own threads.
  if (m && &m->sched() == &s && !m->is_outside()) return basic_local_queue<system>::ready(*m, f);
  const scheduler::guest counted(s);
  if (m && &m->sched() == &s) return basic_local_queue<system>::ready(*m, f);
  s.dispatcher().ready(f);
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

}}}  // namespace fj::v0_2::detail
