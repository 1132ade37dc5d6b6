#include "runtime/slow/fork_slow.hpp"

#include "runtime/fork/current.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/schedule/execute.hpp"
#include "runtime/schedule/scheduler.hpp"

namespace fj::inline v0_1::detail {

namespace {

// To be made public and taken back costs an owner perhaps 100 ns. Who took back what had been public for a hundred times as long
// may well pay that again for the record that is the oldest next; else the next thief must wait, and expose it by force.
constexpr std::int64_t long_public_ns = 10'000;

bool was_public_for_long(const worker& m) noexcept {
  return !m.home().chosen().eager && os::now_ns() - m.published_at > long_public_ns;
}

}  // namespace

bool push_slow() noexcept {
  deque& d = current_deque();
  if (&d == &outside) return false;
  worker& m = *current_worker();
  ++m.count().slow_pushes;
  d.attend();
  if (d.is_roomless()) {
    d.forget();
    return true;
  }
  // With one P no other worker takes anything, unless this strand leaves (deque::publish_all).
  if (m.home().chosen().procs == 1 && !m.home().chosen().eager && !d.is_in_handler()) return true;
  // Whoever sounded the alarm may be busy again, but somebody will come: the oldest record shall be there for him, and this
  // may be the last push for a while.
  const bool asked = m.home().chosen().eager || m.home().idleness().hungry();
  void* const handled = os::handled_exception(*m.exceptions);
  if (!asked && !handled && d.has_public()) return true;
  if (d.publish(handled)) {
    if (!m.home().chosen().eager) m.published_at = os::now_ns();
    ++m.count().publications;
    m.count().most_public.raise_to(d.public_count());
  }
  if (d.is_in_handler()) d.alarm();  // until a push finds that the handler is over
  if (asked) m.home().wake();
  return true;
}

namespace {

bool pop_named(const record& r, record_name name) noexcept {
  deque& d = current_deque();
  if (&d == &outside) return false;
  worker& m = *current_worker();
  // Whatever runs until the join leaves may use up the deque that it needs, so there must be one at any rate.
  if (m.home().chosen().steal_every_fork && d.is_public(r) && prepare_to_wait_for_others(m)) {
    d.push_back(name);
    return false;
  }
  if (m.home().chosen().procs > 1) m.home().refuse_forked_copy();  // a thief may be missing in the midst of it
  if (!d.pop_slow(r)) return false;
  ++m.count().slow_pops;
  // The next fork shall be public at once if somebody waits for it. If not, it shall cost next to nothing.
  if (m.home().idleness().hungry() || was_public_for_long(m)) d.alarm();
  return true;
}

void suspend_until_finished(join& stolen) noexcept {
  // The record itself may be in the deque still, where every fork is to be stolen.
  while (!stolen.finished() && !may_leave()) os::sleep_ns(1'000'000);
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
    // Whoever took the record is done, and looks for the next one soon; a strand may fork a few times at once and then no
    // more for a while.
    d.alarm();
  } else {
    d.open(d.whose());  // where a record was made to be stolen it stands for the newest, still
  }
}

}  // namespace fj::inline v0_1::detail
