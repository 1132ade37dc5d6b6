#include "runtime/workers/active_deque.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "runtime/os/memory_fault.hpp"
#include "runtime/schedule/carried_records.hpp"
#include "runtime/schedule/left_records.hpp"
#include "runtime/workers/execute.hpp"
#include "runtime/workers/scheduler.hpp"

namespace fj::inline v0_1::detail {

using carried_records = basic_carried_records<system>;
using left_records = basic_left_records<system>;

void install_deque(worker& m, fiber& f) noexcept {
  std::atomic<deque*>& active = m.proc->active;
  scheduler& s = m.sched();
  deque* empty = carried_records::bring_back(m, f);
  if (!empty) empty = left_records::take_back(m, f);
  if (empty) {
    s.deques().give(empty);
    return;
  }
  deque* const before = active.load(std::memory_order_relaxed);
  if (!before->has_capacity()) {
    if (deque* const better = s.deques().take()) {
      active.store(better, std::memory_order_release);  // release: pairs with the acquire in for_each_deque
      s.deques().give(before);
    }
  }
  active.load(std::memory_order_relaxed)->open(f.whose);
}

fiber* leave_deque(worker& m, fiber& left) noexcept {
  const auto then = [&m, &left]() -> fiber* {
    fiber* const next = m.then(m, left, m.argument);
    if (next == &left) left.becomes(fiber_state::runnable);  // what it waited for was there
    return next;
  };
  if (!m.proc) return then();  // after a blocking call: its records are with its marker
  left.whose = m.proc->active.load(std::memory_order_relaxed)->whose();  // a scope's child does not know yet
  release_below(m, left);
  if (m.carries.replace(false)) {
    carried_records::take_along(m, left);
    return then();
  }
  return left_records::leave(m, left, [&] {
    trim_stack(left, static_cast<const std::byte*>(left.context.registers));
    return then();
  });
}

deque& system::take_spare_deque(worker& m) noexcept {
  deque* const spare = m.proc->spare_deque.replace(nullptr);
  if (spare) return *spare;
  os::print_error("forkjoin: internal error: a fiber left with records, and its P has no other deque\n");
  std::abort();
}

}  // namespace fj::inline v0_1::detail
