#include "runtime/slow/fork_slow.hpp"

#include "runtime/base/tuning.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/schedule/execute.hpp"
#include "runtime/schedule/owner.hpp"
#include "runtime/schedule/scheduler.hpp"

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
  // The worker may use up the deque set aside here before the join leaves, so a fallback must exist.
  if (m.sched().settings().steal_every_fork && d.is_public(r) && prepare_to_wait_for_others(m)) {
    d.push_back(name);
    return false;
  }
  if (m.sched().settings().procs > 1) m.sched().refuse_forked_copy();  // a thief may be missing in the midst of it
  return owner::take_back(m, d, r);
}

void suspend_until_finished(join& stolen) noexcept {
  // The record itself may be in the deque still, where every fork is to be stolen.
  while (!stolen.finished() && !may_leave()) os::sleep_ns(tuning::refused_ns);
  if (stolen.finished()) return;
  ++current_worker()->count().suspensions;
  leave(
      [](worker&, fiber& f, void* word) noexcept -> fiber* {
        const os::unseen_by_detector pause;  // the word lies in the frame of the strand
        // Not waiting after all: the thief was faster.
        return static_cast<join*>(word)->wait(f) ? nullptr : &f;
      },
      &stolen);
}

}  // namespace

bool pop_slow(const record& r) noexcept { return pop_named(r, deque::name_of(r)); }
bool pop_slow(const record_stand_in& r) noexcept { return pop_named(r, deque::name_of(r)); }

void join_slow(join& stolen) noexcept {
  if (&current_deque() == &outside) return;  // finished, and there is nothing else to do
  suspend_until_finished(stolen);
  deque& d = current_deque();
  if (d.is_at_rest()) {
    owner::after_stolen_join(d);
  } else {
    d.open(d.whose());  // where a record was made to be stolen it stands for the newest, still
  }
}

}  // namespace fj::inline v0_1::detail
