#include "runtime/slow/fork_slow.hpp"

#include "runtime/base/tuning.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/schedule/owner.hpp"
#include "runtime/workers/execute.hpp"
#include "runtime/workers/scheduler.hpp"

namespace fj::inline v0_1::detail {

using owner = basic_owner<system>;

bool push_slow() noexcept {
  deque& d = current_deque();
  if (&d == &outside) return false;
  worker& m = *current_worker();
  owner::answer_alarm(m, d, os::handled_exception(*m.exceptions));
  return true;
}

namespace {

bool pop_named(const record& r, record_name name) noexcept {
  deque& d = current_deque();
  if (&d == &outside) return false;
  worker& m = *current_worker();
  // The worker may use up the deque that is set aside here before the join leaves, so a fallback deque must exist.
  if (m.sched().settings().steal_every_fork && d.is_public(r) && prepare_to_wait_for_others(m)) {
    d.push_back(name);
    m.running->misses_record();
    return false;
  }
  if (m.sched().settings().procs > 1)
    m.sched().refuse_forked_copy();  // a thief that has begun may be missing in the child process
  if (owner::take_back(m, d, r)) return true;
  m.running->misses_record();
  return false;
}

void suspend_until_finished(join& stolen) noexcept {
  // With steal_every_fork the record itself may be in the deque still.
  while (!stolen.finished() && !may_leave()) os::sleep_ns(tuning::refused_ns);
  if (stolen.finished()) return;
  ++current_worker()->count().suspensions;
  leave(
      [](worker&, fiber& f, void* word) noexcept -> fiber* {
        const os::unseen_by_detector pause;  // the word lies in the frame of the strand
        // If wait says false, the thief was faster.
        return static_cast<join*>(word)->wait(f) ? nullptr : &f;
      },
      &stolen);
}

}  // namespace

bool pop_slow(const record& r) noexcept { return pop_named(r, deque::name_of(r)); }
bool pop_slow(const record_stand_in& r) noexcept { return pop_named(r, deque::name_of(r)); }

void join_slow(join& stolen) noexcept {
  if (&current_deque() == &outside) return;  // the record is finished
  suspend_until_finished(stolen);
  deque& d = current_deque();
  if (d.is_at_rest()) {
    owner::after_stolen_join(d);
  } else {
    d.open(d.whose());  // with steal_every_fork the stolen record is still the newest
  }
}

}  // namespace fj::inline v0_1::detail
