#include "forkjoin/abi/fork.hpp"

#include "forkjoin/abi/loop.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/context/context.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/sched/owner.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/strand/give_way.hpp"
#include "runtime/strand/hooks.hpp"
#include "runtime/strand/slow_paths.hpp"
#include "runtime/strand/wait_at_join.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

bool push_slow() noexcept {
  deque& d = current_deque();
  if (&d == &no_deque) return false;
  finish_push(d);
  return true;
}

namespace {

bool pop_named(const record& r, record_name name) noexcept {
  deque& d = current_deque();
  if (&d == &no_deque) return false;
  os::schedule_point();
  worker& m = *current_worker();
  // The worker may use up the deque that is set aside here before the join leaves, so a fallback deque must exist.
  if (m.sched().settings().steal_every_fork && d.is_public(r) && prepare_to_wait_for_others(m)) {
    d.push_back(name);
    current_fiber()->note_possible_theft();
    return false;
  }
  if (m.sched().settings().procs > 1)
    m.sched().refuse_forked_copy();  // a thief that has begun may be missing in the child process
  if (owner_steps::take_back(m, d, r)) return true;
  current_fiber()->note_possible_theft();
  return false;
}

}  // namespace

bool pop_slow(const record& r) noexcept { return pop_named(r, deque::name_of(r)); }
bool pop_slow(const record_stand_in& r) noexcept { return pop_named(r, deque::name_of(r)); }

void join_slow(join& stolen) noexcept {
  if (&current_deque() == &no_deque) return;  // the record is finished
  if (!stolen.finished()) ++current_worker()->count().join_waits;
  finish_join(stolen);
}

void finish_join(join& stolen) noexcept {
  wait_until_finished(stolen);
  deque& d = current_deque();
  if (d.is_at_rest()) {
    owner_steps::after_stolen_join(d);
  } else {
    d.open(d.whose());  // with steal_every_fork the stolen record is still the newest
  }
}

bool is_watched(const record& newest) noexcept {
  const deque& d = current_deque();
  if (&d == &no_deque) return false;
  if (d.is_watched(newest) && !d.exceptions().any()) return true;
  worker& m = *current_worker();
  return owner_steps::is_watched_by_any(m, d, newest) && !os::handled_exception(*m.exceptions);
}

}}}  // namespace fj::v0_4::detail
