#include "runtime/schedule/find_work.hpp"

#include "runtime/fork/current.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/os/cpu.hpp"
#include "runtime/schedule/execute.hpp"
#include "runtime/schedule/scheduler.hpp"

namespace fj::inline v0_1::detail {

namespace {

// How long a worker looks around before it parks when there is nothing to be seen: a few times what a wake-up takes, so that
// a program that runs one loop after another wakes nobody for each.
constexpr std::int64_t search_ns = 100'000;
// How long it waits for owners to publish what it sees in their deques before it takes it by force. Owners that fork at
// all answer within some nanoseconds.
constexpr std::int64_t patience_ns = 10'000;
// Who looks for work gives way in between. If it took so long to get back, somebody else is busy on this processor: perhaps
// whose records it looks for. Kernels can leave two threads on one processor for tens of milliseconds, next to an idle one;
// but they look for an idle one for whoever wakes up, so it sleeps a little.
constexpr std::int64_t crowded_ns = 200'000;
constexpr std::int64_t nap_ns = 1'000;
// Rounds between two looks at the clock.
constexpr unsigned rounds_per_look = 16;
// A theft holds both sides up for about a microsecond. Who comes back so soon after one has not found enough to make up for
// it, and lets the others get on for as long.
constexpr std::int64_t short_work_ns = 3'000;
// How often a task looks for something to run on top of a join that waits, before it suspends; and how long who has nothing
// to do waits for others to be through with that.
constexpr unsigned top_rounds = 64;

struct sight {
  deque::loot loot;
  bool seen = false;  // there was something, whether or not it could be had
};

// One round over all deques in random order: takes the first public record, and asks owners that have none to publish.
sight look_around(worker& m, const root* only) noexcept {
  scheduler& s = m.home();
  const auto& steps = s.steps();
  const unsigned first = m.dice.below(s.chosen().procs);
  const unsigned step = steps[m.dice.below(static_cast<std::uint32_t>(steps.size()))];
  sight found;
  s.for_each_deque(first, step, [&](deque& victim) {
    if (found.loot.taken || (only && victim.whose() != only)) return;
    if (victim.has_public()) {
      found.seen = true;
      found.loot = victim.steal(only);
      if (!found.loot.taken) return;
      ++m.count().steals;
      // The next thief shall find something, too.
      if (!victim.has_public() && !seems_empty(victim)) victim.alarm();
    } else {
      found.seen |= !seems_empty(victim);
      // Also where there is nothing yet: who begins to fork may push a few records at once, and then none for a while.
      if (!victim.alarmed()) victim.alarm();
    }
  });
  return found;
}

bool is_over(const root* job) noexcept {
  // acquire: pairs with the release in finish
  return job && job->done.load(std::memory_order_acquire);
}

// A worker that has just stolen little waits first.
void begin_to_look(worker& m, const root* only) noexcept {
  m.home().refuse_forked_copy();
  const std::int64_t now = os::now_ns();
  m.count().begin_looking(now);
  const settings& chosen = m.home().chosen();
  if (chosen.procs == 1 || chosen.steal_every_fork) return;  // nobody is held up; or it was asked for
  if (now - m.stolen_at > short_work_ns) return;
  while (!is_over(only) && !m.home().any_ready() && os::now_ns() - now < short_work_ns) os::pause();
}

// What becomes ready, or nullptr; and has the worker join those who look for work, when it is its turn. They may be at it
// only for a moment, on top of a join: to park at once would cost more than to wait.
fiber* wait_for_turn(worker& m) noexcept {
  scheduler& s = m.home();
  for (unsigned round = 0; round < top_rounds; ++round) {
    if (fiber* const f = s.take_ready(nullptr)) return f;
    if (s.idleness().may_spin(static_cast<int>(s.chosen().procs))) s.start_spinning(m);
    if (m.spinning) break;
    os::pause();
  }
  return nullptr;
}

fiber* search(worker& m, const root* only) noexcept {
  // A stack first: a record that has been taken must be run.
  if (!prepare_stack(m)) {
    // No memory: whoever has the work does it. Not to come back at once, as long as there is something to be seen.
    os::sleep_ns(1'000'000);
    return nullptr;
  }
  std::int64_t nothing_since = 0, something_since = 0;
  for (unsigned round = 0;; ++round) {
    if (fiber* const f = m.home().take_ready(only)) return f;
    // A caller of run has no work but its own job's, and another thread may lack the P.
    if (is_over(only) || (only && m.home().lacks_processor())) return nullptr;
    const sight found = look_around(m, only);
    if (found.loot.taken) {
      fiber& thief = m.stacks.pop();
      begin(thief, found.loot);
      m.stolen_at = os::now_ns();
      m.count().begin_busy(m.stolen_at);
      return &thief;
    }
    os::pause();
    if (round % rounds_per_look != 0) continue;
    std::int64_t now = os::now_ns();
    if (!found.seen) {
      something_since = 0;
      if (nothing_since == 0) nothing_since = now;
      if (now - nothing_since > search_ns) return nullptr;
    } else {
      nothing_since = 0;
      if (something_since == 0) something_since = now;
      if (now - something_since > patience_ns) {
        m.home().expose(m);
        something_since = now = os::now_ns();  // that takes a while of its own
      }
    }
    if (round == 0) continue;
    os::yield_thread();
    if (os::now_ns() - now > crowded_ns) os::sleep_ns(nap_ns);
  }
}

}  // namespace

fiber* find_work(worker& m) noexcept {
  begin_to_look(m, nullptr);
  fiber* f = wait_for_turn(m);
  if (!f && m.spinning) f = search(m, nullptr);
  if (f) m.home().stop_spinning(m);
  return f;
}

fiber* find_work_of(const root& job, worker& m) noexcept {
  begin_to_look(m, &job);
  m.home().start_spinning(m);
  fiber* const f = search(m, &job);
  if (f) m.home().stop_spinning(m);
  return f;
}

deque::loot steal_for_top(worker& m, const join& until) noexcept {
  m.home().refuse_forked_copy();
  m.home().start_spinning(m);
  deque::loot got;
  for (unsigned round = 0; round < top_rounds && !got.taken && !until.finished(); ++round) {
    got = look_around(m, current_deque().whose()).loot;
    if (!got.taken) os::pause();
  }
  m.home().stop_spinning(m);
  return got;
}

}  // namespace fj::inline v0_1::detail
