#include "runtime/fork_slow.hpp"

#include "runtime/current.hpp"
#include "runtime/execute.hpp"
#include "runtime/scheduler.hpp"

namespace fj::detail {

bool push_slow() noexcept {
  deque& d = current_deque();
  if (&d == &outside.records) {
    d.forget();
    return false;
  }
  worker& m = *current_worker();
  ++m.count().slow_pushes;
  d.attend();
  if (d.full()) {
    // The record stays off the deque, which the pop to come cannot tell from one that nobody has stolen.
    const deque::index at = d.depth() - 1;
    const bool back = d.pop(at) || d.pop_slow(at);
    FORKJOIN_CHECK(back);
    static_cast<void>(back);
    return true;
  }
  // Nobody else's business when this is the only P.
  if (m.home().chosen().eager || m.home().idleness().hungry()) {
    if (d.publish()) ++m.count().publications;
    m.home().wake();
  }
  return true;
}

bool pop_slow(deque::index at) noexcept {
  deque& d = current_deque();
  if (&d == &outside.records) {
    d.forget();
    return false;
  }
  worker& m = *current_worker();
  if (m.home().chosen().steal_every_fork && d.is_public(at) && prepare_to_detach(m)) {
    d.push_back();
    return false;
  }
  if (!d.pop_slow(at)) return false;
  ++m.count().slow_pops;
  // The next fork shall be public at once if somebody waits for it, and cost nothing if not.
  if (m.home().idleness().hungry()) d.alarm();
  return true;
}

namespace {

void suspend_until_finished(join& stolen) noexcept {
  if (stolen.finished()) return;
  ++current_worker()->count().suspensions;
  leave(
      [](worker&, fiber& f, void* word) noexcept -> fiber* {
        // Not waiting after all: the thief was faster.
        return static_cast<join*>(word)->wait(f) ? nullptr : &f;
      },
      &stolen);
}

// Where a record was made to be stolen the strand is one deeper than it found it.
void level(deque::index at) noexcept {
  deque& d = current_deque();
  if (d.depth() != at) d.open(d.whose(), at);
}

}  // namespace

void join_slow(join& stolen, deque::index at) noexcept {
  if (&current_deque() == &outside.records) return;  // finished, and there is nothing to level
  suspend_until_finished(stolen);
  level(at);
}

}  // namespace fj::detail
