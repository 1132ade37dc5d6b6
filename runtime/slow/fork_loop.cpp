#include "runtime/slow/fork_loop.hpp"

#include <cstdint>
#include <memory>

#include "runtime/base/tuning.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/schedule/owner.hpp"
#include "runtime/slow/fork_slow.hpp"
#include "runtime/workers/execute.hpp"
#include "runtime/workers/scheduler.hpp"

namespace fj::inline v0_1::detail {

namespace {

// What a thief pushes for the rest of the loop.
struct loop_stand_in : record_stand_in {
  explicit loop_stand_in(fork_loop& loop) noexcept { stands_for = &loop.stolen_rest; }
  ~loop_stand_in() {}

  union {
    join until_stolen;  ///< with steal_every_fork: where this thief waits for the next
  };
};

// With steal_every_fork: tells the thief that offered the rest, and waits at its pop, that it was stolen. Aligned as
// go_on_with_loop is.
[[gnu::aligned(16)]] outcome tell_thief_and_go_on(continuation& self) noexcept {
  if (join_waiter* const waiting = static_cast<loop_rest&>(self).until_stolen->arrive(outcome::returned))
    resume(*static_cast<fiber*>(waiting));
  return go_on_with_loop(self);
}

void start_stolen_turn_slow(loop_rest& rest, loop_stand_in& offered) noexcept {
  if (current_worker()->sched().settings().steal_every_fork) {
    std::construct_at(&offered.until_stolen, &go_on_with_loop);
    rest.until_stolen = &offered.until_stolen;
    rest.joined.call_instead(&tell_thief_and_go_on);
  }
  push_slow();
}

bool finish_stolen_turn_slow(loop_stand_in& offered) noexcept {
  if (pop_slow(offered)) return true;
  // With steal_every_fork the stand-in may not be left behind in the deque.
  if (current_worker()->sched().settings().steal_every_fork) join_slow(offered.until_stolen);
  return false;
}

// Runs the turns from `turn` on until the rest is stolen. Returns the first that another thief runs.
std::size_t run_stolen_turns(fork_loop& loop, std::size_t turn) noexcept {
  loop_rest& rest = loop.stolen_rest;
  loop_stand_in offered(loop);
  while (turn + 1 != loop.count) {
    if (!loop.start_stolen(turn)) return loop.count;
    rest.next = turn + 1;
    if (push_record(offered)) start_stolen_turn_slow(rest, offered);
    const bool more = loop.run_stolen(turn++);
    if (!pop_record(offered) && !finish_stolen_turn_slow(offered)) return turn;
    if (!more) return loop.count;
  }
  if (loop.start_stolen(turn)) loop.run_stolen(turn);
  return loop.count;
}

std::size_t run_first_stolen_turns(fork_loop& loop, std::size_t turn) noexcept {
  std::construct_at(&loop.stolen_rest, loop);
  return loop.begin_stolen() ? run_stolen_turns(loop, turn) : loop.count;
}

// Waits for all turns from `first` on.
void join_from(fork_loop& loop, std::size_t first) noexcept {
  loop.joined.stolen(static_cast<std::int64_t>(loop.count - first));
  for (;;) {
    if (loop.joined.all_arrived()) return;
    if (may_leave()) break;
    os::sleep_ns(tuning::refused_ns);  // the thieves end without this worker
  }
  worker& m = *current_worker();
  ++m.count().suspensions;
  leave(
      [](worker&, fiber& f, void* waiting) noexcept -> fiber* {
        const os::unseen_by_detector pause;  // as in suspend_until_finished
        auto& joins = *static_cast<fork_loop*>(waiting);
        joins.home = &f;
        return joins.joined.wait() ? nullptr : &f;
      },
      &loop);
  loop.joined.go_on();
}

}  // namespace

outcome go_on_with_loop(continuation& self) noexcept {
  auto& rest = static_cast<loop_rest&>(self);
  fork_loop& loop = rest.of;
  const std::size_t first = rest.next;
  const bool is_first = &rest == &loop.rest;
  const std::size_t end = is_first ? run_first_stolen_turns(loop, first) : run_stolen_turns(loop, first);
  os::end_handlers(*current_worker()->exceptions);
  fiber* home = nullptr;
  // If it does not say that the home strand waits, the loop may be gone.
  if (loop.joined.arrive(static_cast<std::int64_t>(end - first))) {
    const os::unseen_by_detector pause;  // the home strand goes on after this look, as this strand resumes it
    home = loop.home;
  }
  end_strand(home);
}

bool is_loop_rest(const continuation& record) noexcept {
  const os::unseen_by_detector pause;
  const continuation_body body = record.joined.body();
  return body == &go_on_with_loop || body == &tell_thief_and_go_on;
}

void join_loop_slow(fork_loop& loop) noexcept {
  join_from(loop, loop.rest.next);
  deque& d = current_deque();
  if (d.is_at_rest()) {
    basic_owner<system>::after_stolen_join(d);
  } else {
    d.open(d.whose());  // with steal_every_fork the rest is still the newest
  }
}

void run_as_stolen(fork_loop& loop) noexcept {
  loop.rest.next = 0;
  const std::size_t end = run_first_stolen_turns(loop, 0);
  if (end != loop.count) join_from(loop, end);
}

}  // namespace fj::inline v0_1::detail
