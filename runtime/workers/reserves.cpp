// The free stacks and the deques of a P: what its worker needs to begin a stolen record, and to suspend a fiber.
#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "runtime/fork/current.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/workers/execute.hpp"
#include "runtime/workers/scheduler.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

void release_below(worker& m, fiber& f) noexcept {
  for (fiber* free = f.below.replace(nullptr); free;) {
    fiber* const next = free->below.replace(nullptr);
    if (m.proc->stacks.push(*free)) {
      trim_stack(*free, free->stack_top());
    } else {
      m.sched().stacks().give(free);
    }
    free = next;
  }
}

void release_stack(worker& m, fiber& f) noexcept {
  release_below(m, f);
  if (f.pool == &m.sched().small_stacks()) {
    trim_stack(f, f.stack_top());
    stack_cache& kept = m.proc->small_stacks;
    if (kept.push(f)) return;
    m.sched().small_stacks().take_back(kept, stack_cache::limit / 2);
    kept.push(f);
  } else if (f.pool == &m.sched().stacks() && m.proc->stacks.count() < tuning::stacks_of_ended_strands &&
             m.proc->stacks.push(f)) {
    trim_stack(f, f.stack_top());
  } else {
    f.pool->give(&f);
  }
}

void release_stacks(worker& m, std::size_t but) noexcept {
  while (m.proc->stacks.count() > but) m.sched().stacks().give(&m.proc->stacks.pop());
}

namespace {

fiber* take_small_stack(scheduler& s) noexcept {
  worker* const m = current_worker();
  if (!m || &m->sched() != &s) return s.small_stacks().take(nullptr);
  stack_cache& kept = m->proc->small_stacks;
  if (kept.empty()) s.small_stacks().fill(kept);
  return kept.empty() ? nullptr : &kept.pop();
}

}  // namespace

fiber* take_go_stack(scheduler& s, std::size_t size) noexcept {
  if (size <= s.settings().go_stack_size) return take_small_stack(s);
  if (size <= s.settings().stack_size) return s.stacks().take(nullptr);
  stack_pool* const pool = s.large_stacks().pool_of(size);
  return pool ? pool->take(nullptr) : nullptr;
}

void release_small_stacks(worker& m) noexcept { m.sched().small_stacks().take_back(m.proc->small_stacks, 0); }

bool prepare_stack(worker& m) noexcept {
  stack_cache& stacks = m.proc->stacks;
  if (!stacks.empty()) return true;
  fiber* const f = m.sched().stacks().take(&m.count().stacks);
  if (f) stacks.push(*f);
  return f;
}

// On the native stack the worker needs one free stack, for the theft that follows. If the pool is empty, another P would map a
// stack while this P keeps several: a P to which strands move, and where they end, keeps the stack of each. On a strand's stack
// a scope's forks will need the others.
bool system::prepare_stack(worker& m) noexcept {
  if (!current_fiber() && m.sched().stacks().seems_empty()) detail::release_stacks(m, 1);
  return detail::prepare_stack(m);
}

fiber* system::begin(worker& m, const deque::stolen_record& what) noexcept {
  fiber& thief = m.proc->stacks.pop();
  detail::begin(thief, what);
  return &thief;
}

// A root whose strand ends leaves its worker looking for work. This worker may be about to run a fiber.
void system::refuse(worker& m, root& r) noexcept {
  const bool looks = m.spinning;
  r.refused = true;
  r.ended(r, m);
  if (!looks) m.sched().dispatcher().stop_spinning(m);
}

void system::release_stacks(worker& m, std::size_t but) noexcept {
  detail::release_stacks(m, but);
  release_small_stacks(m);
}

void system::leaves_stacks(worker& m, fiber& left) noexcept { release_below(m, left); }

void system::trims_stack(fiber& left) noexcept {
  trim_stack(left, static_cast<const std::byte*>(left.context.registers));
}

void system::give_deque(worker& m, deque& empty) noexcept {
  if (!m.proc->spare_deque) {
    m.proc->spare_deque = &empty;
  } else {
    m.sched().deques().give(&empty);
  }
}

deque& system::take_spare_deque(worker& m) noexcept {
  deque* const spare = m.proc->spare_deque.replace(nullptr);
  if (spare) return *spare;
  os::print_error("forkjoin: internal error: a fiber left with records, and its P has no other deque\n");
  std::abort();
}

void system::replace_active_deque(worker& m) noexcept {
  deque* const better = m.sched().deques().take();
  if (!better) return;
  deque* const before = m.proc->active.load(std::memory_order_relaxed);
  m.proc->active.store(better, std::memory_order_release);  // release: pairs with the acquire in for_each_deque
  m.sched().deques().give(before);
}

bool may_leave() noexcept {
  if (current_deque().looks_empty()) return true;
  worker& m = *current_worker();
  if (!m.proc->spare_deque) m.proc->spare_deque = m.sched().deques().take_or_fallback();
  return m.proc->spare_deque;
}

bool prepare_to_wait_for_others(worker& m) noexcept {
  // What a strand prepares its worker uses next. The one must not order the other, or the strand that the worker begins then
  // would come after this one, though it be another branch of the same fork.
  const os::unseen_by_detector pause;
  const os::unordered_for_detector by_this;
  if (!m.sched().deques().have_fallbacks(m.sched().settings().procs) || !prepare_stack(m)) return false;
  if (!m.proc->spare_deque) m.proc->spare_deque = m.sched().deques().take();
  return m.proc->spare_deque;
}

bool system::prepare_to_wait(worker& m) noexcept { return prepare_to_wait_for_others(m); }

}}}  // namespace fj::v0_2::detail
