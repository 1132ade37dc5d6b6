// Onto a fiber's stack, and back. Inline in the loop of a worker, for the reason of os/context/switch_context.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/base/prefetch.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/os/topology.hpp"
#include "runtime/sched/leaving.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/stacks/overflow.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

// If thousands of fibers are ready, each has left the caches when its turn comes. So the worker asks for the memory of
// those that follow in its ring: the fiber and the frames near the top of its stack, and later its job. Not for a few,
// whose memory is there.
inline void prefetch_later(const processor& p) noexcept {
  constexpr std::uint32_t few = 16, far = 6, near = 2;
  constexpr std::size_t frames = 1024, used_of_job = 5 * cache_line;
  if (p.queue.in_ring() < few) [[likely]]
    return;
  if (const fiber* const f = p.queue.after(far))
    prefetch(reinterpret_cast<const std::byte*>(f) - frames, frames + sizeof(fiber));
  if (const fiber* const f = p.queue.after(near)) prefetch(static_cast<job*>(f->whose), used_of_job);
}

// Returns what follows. The worker may hold another P by then.
[[gnu::always_inline]] inline fiber* scheduler_hooks::switch_to(worker& m, fiber& f) noexcept {
  if (thread_hooks* const hooks = m.sched().hooks()) [[unlikely]]
    hooks->serves(m.hooks_seen, !m.is_caller());
  prefetch_later(*m.proc);
  os::happens_after(&f);  // made by another strand, perhaps
  active_deque::install(m, f);
  if (!f.counted) {
    f.counted = &m.count().stacks;
    f.counted->take();
  }
  f.becomes(fiber_state::running);
  if (f.ready_at != 0) [[unlikely]]
    m.count().note_ready(os::now_ns() - f.ready_at.replace(0), f.ready_for, f.urgent);
  if (m.sched().all().looks().needs_places()) [[unlikely]]
    m.proc->cpu = os::this_cpu();
  m.runs = &f;
  m.sched().monitor().attend();
  set_current_fiber(&f);
  set_current_deque(*m.proc->active.load(std::memory_order_relaxed));
  emit_event(m, event::run, 0, 0, f.number);
  os::schedule_point();
  os::switch_context(m.native, f.context, *m.exceptions);
  set_current_deque(no_deque);
  // Not always f: a scope's child may have come in its place, or f was made to go on with a child's parent.
  fiber& left = *current_fiber();
  set_current_fiber(nullptr);
  m.runs = &left;  // until it has left for good: see lost_fibers.cpp
  os::happens_after(&left);
  check_canary(left);
  if (m.then == &ended) {
    const auto* const owner = static_cast<const fiber*>(static_cast<void*>(m.argument));
    emit_event(m, event::end, owner ? owner->number + std::uint64_t{1} : 0, 0, left.number);
  } else {
    emit_event(m, event::off, 0, 0, left.number);
  }
  fiber* next;
  if (m.then == &ended) {
    next = ended(m, left, m.argument);
  } else {
    left.becomes(fiber_state::waiting);
    next = active_deque::leave(m, left);
  }
  m.runs = nullptr;
  return next;
}

}}}  // namespace fj::v0_4::detail
