// When the monitor looks, what it asks of strands that compute, and when the poller is overdue: by a clock of the
// test's own, without threads.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <thread>

#include "forkjoin/abi/os/clock.hpp"
#include "runtime/sched/hooks.hpp"
#include "runtime/sched/monitor_rules.hpp"
#include "runtime/sched/monitor_word.hpp"
#include "runtime/sched/poller.hpp"
#include "test/support.hpp"

namespace {

namespace tuning = fj::detail::tuning;

// What the monitor asks of a scheduler, its dispatcher, its poller and its timekeeper.
class fake_scheduler {
 public:
  explicit fake_scheduler(unsigned procs) : all_(procs) {
    for (unsigned i = 0; i != procs; ++i) {
      all_[i].active = &empty_;
      all_[i].runs = 1;
      all_[i].count.begin_busy(1);
    }
  }

  fj::detail::processors& all() { return all_; }
  fake_scheduler& dispatcher() { return *this; }
  fake_scheduler& poller() { return *this; }
  fake_scheduler& timekeeper() { return *this; }

  bool any_ready() const { return a_fiber_waits; }
  bool any_soon() const { return one_goes_on_soon; }
  bool any_urgent() const { return one_is_urgent; }
  bool wants_for_urgent(const fj::detail::processor&) const { return one_is_urgent && may_serve_it; }
  bool has_surplus() const { return one_is_to_retire; }
  bool all_busy() const { return all_compute; }
  bool any_spinning() const { return one_looks_for_work; }
  bool any_idle() const { return one_is_idle; }
  std::int64_t earliest() const { return first_timer; }
  bool awaited() const { return strands_await_descriptors; }
  bool is_open() const { return poller_is_open; }
  bool is_overdue(std::int64_t now) const { return now >= overdue_at; }
  void poll() { ++polls; }
  void fire_all() { ++fired; }
  fj::detail::retaken retake(fj::detail::processor& p, std::uint64_t call, fj::detail::waker, bool) {
    return p.blocking.retake(call) ? fj::detail::retaken::taken : fj::detail::retaken::came_back;
  }

  /// Whether the strand of the first P was asked to give way since its run began.
  bool is_asked() { return all_[0].yield_request.concerns(all_[0].runs); }
  void another_runs() { all_[0].runs = all_[0].runs + 1; }

  /// Of the strand of the first P, a blocking call.
  void begin_call() {
    alignas(fj::detail::cache_line) static std::byte nobody[1];  // its address is all that is looked at
    all_[0].blocking.begin(reinterpret_cast<fj::detail::fiber&>(nobody));
  }

  bool a_fiber_waits = true, one_is_to_retire = false;
  bool all_compute = true, one_looks_for_work = false, one_is_idle = false;
  bool strands_await_descriptors = false, poller_is_open = false, one_goes_on_soon = false;
  bool one_is_urgent = false, may_serve_it = false;
  std::int64_t overdue_at = 0, first_timer = fj::detail::never;
  int polls = 0, fired = 0;

 private:
  fj::detail::deque empty_{0, false};
  fj::detail::processors all_;
};

constexpr fj::detail::poller* no_poller = nullptr;

struct fixture {
  explicit fixture(unsigned procs = 1) : scheduler(procs), monitor(procs) { monitor.look(scheduler, now); }

  void look_after(std::int64_t ns) {
    now += ns;
    CHECK(monitor.look(scheduler, now) == 0);
  }

  std::int64_t now = tuning::slice_ns;
  fake_scheduler scheduler;
  fj::detail::monitor_rules monitor;
};

}  // namespace

// Tried without has_surplus in time_slices.hpp: fails.
TEST_CASE("monitor: a strand is asked to give way after a slice, if a P is to retire") {
  fixture f;
  f.scheduler.a_fiber_waits = false;
  f.look_after(2 * tuning::slice_ns);
  CHECK(!f.scheduler.is_asked());
  f.scheduler.one_is_to_retire = true;
  f.look_after(1);
  CHECK(f.scheduler.is_asked());
}

// Nobody would take the request back. Tried without the look at count.busy in time_slices.hpp: fails.
TEST_CASE("monitor: a P that runs no strand is not asked to give way") {
  fixture f;
  f.scheduler.all()[0].count.begin_looking(2);
  f.look_after(2 * tuning::slice_ns);
  f.look_after(2 * tuning::slice_ns);
  CHECK(!f.scheduler.is_asked());
  CHECK(!f.monitor.any_asked());
  f.scheduler.all()[0].count.begin_busy(3);
  f.look_after(2 * tuning::slice_ns);
  CHECK(f.scheduler.is_asked());
  f.scheduler.all()[0].count.begin_idle(4);
  f.look_after(1);
  CHECK(!f.monitor.any_asked());
}

// Tried with a slice that begins at each look, and with one that another strand inherits: fails.
TEST_CASE("monitor: a strand is asked to give way after a slice, if a fiber waits") {
  fixture f;
  for (int i = 0; i != 3; ++i) {
    f.look_after(tuning::slice_ns / 4);
    CHECK(!f.scheduler.is_asked());
  }
  f.scheduler.another_runs();
  f.look_after(tuning::slice_ns / 4);
  f.look_after(tuning::slice_ns - 1);
  CHECK(!f.scheduler.is_asked());
  CHECK(!f.monitor.any_asked());
  f.scheduler.a_fiber_waits = false;
  f.look_after(1);
  CHECK(!f.scheduler.is_asked());
  f.scheduler.a_fiber_waits = true;
  f.look_after(1);
  CHECK(f.scheduler.is_asked());
  CHECK(f.monitor.any_asked());
  f.scheduler.another_runs();
  f.look_after(1);
  CHECK(!f.scheduler.is_asked());
  CHECK(!f.monitor.any_asked());
}

// The strand that was asked when the fiber became ready has some time to hear it.
TEST_CASE("monitor: while a fiber waits that goes on soon, slices are short, and it looks often enough") {
  fixture f;
  for (int i = 0; i != 100; ++i) f.look_after(0);
  f.look_after(tuning::slice_ns - 2 * tuning::between_cuts_ns);
  f.scheduler.one_goes_on_soon = true;
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::between_cuts_ns);
  f.look_after(0);
  f.look_after(tuning::between_cuts_ns - 1);
  CHECK(!f.scheduler.is_asked());
  f.look_after(1);
  CHECK(f.scheduler.is_asked());  // it has run for so long already
  f.scheduler.another_runs();
  f.look_after(1);
  f.look_after(tuning::between_cuts_ns - 1);
  CHECK(!f.scheduler.is_asked());
  f.look_after(1);
  CHECK(f.scheduler.is_asked());
  f.scheduler.another_runs();
  f.scheduler.one_goes_on_soon = false;
  f.look_after(1);
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::last_delay_ns);
  f.scheduler.one_goes_on_soon = true;
  f.look_after(tuning::between_cuts_ns);
  f.look_after(1);
  CHECK(!f.scheduler.is_asked());
}

TEST_CASE("monitor: while an urgent fiber waits, slices are short on Ps that may serve it, or do") {
  fixture f;
  f.scheduler.one_is_urgent = true;
  f.look_after(1);
  f.look_after(tuning::between_cuts_ns);
  f.look_after(1);
  CHECK(!f.scheduler.is_asked());
  for (int i = 0; i != 100; ++i) f.look_after(1);
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::between_cuts_ns);
  f.scheduler.may_serve_it = true;
  f.look_after(1);
  CHECK(f.scheduler.is_asked());
  f.scheduler.another_runs();
  f.scheduler.may_serve_it = false;
  f.scheduler.all()[0].urgent.begin(0);
  f.look_after(1);
  f.look_after(tuning::between_cuts_ns - 1);
  CHECK(!f.scheduler.is_asked());
  f.look_after(1);
  CHECK(f.scheduler.is_asked());
  f.scheduler.one_is_urgent = false;
  f.look_after(1);
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::last_delay_ns);
}

// Tried without the limit, and with a doubling from the first look on: fails.
TEST_CASE("monitor: looks come seldom when they are in vain") {
  fixture f;
  for (unsigned i = 1; i != tuning::quick_looks; ++i) {
    CHECK(f.monitor.delay_ns(f.scheduler) == tuning::first_delay_ns);
    f.look_after(tuning::first_delay_ns);
  }
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::first_delay_ns);
  f.look_after(0);
  CHECK(f.monitor.delay_ns(f.scheduler) == 2 * tuning::first_delay_ns);
  for (int i = 0; i != 100; ++i) f.look_after(0);
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::last_delay_ns);
}

// Tried with many such looks after each rest, with few after each, and with many for ever once a P was taken: fails.
TEST_CASE("monitor: after a rest the first looks come soon, many of them if a P was taken since the rest before") {
  fixture f;
  const auto soon_looks = [&f] {
    f.monitor.begin_anew();
    unsigned looks = 0;
    for (; f.monitor.delay_ns(f.scheduler) == tuning::first_delay_ns; ++looks) f.look_after(tuning::first_delay_ns);
    return looks;
  };
  CHECK(soon_looks() == 1);
  f.scheduler.begin_call();
  f.look_after(tuning::first_delay_ns);
  f.look_after(tuning::first_delay_ns);
  CHECK(f.scheduler.all()[0].blocking.now() == 0);  // taken
  CHECK(soon_looks() == tuning::quick_looks + 1);
  CHECK(soon_looks() == 1);
}

// Tried with a limit for a runtime without such strands, without one while a worker looks for work, and with one though
// a P is idle: fails.
TEST_CASE("monitor: looks often enough for the poller while strands wait for descriptors and all P work") {
  fixture f;
  for (int i = 0; i != 100; ++i) f.look_after(0);
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::last_delay_ns);
  f.scheduler.strands_await_descriptors = true;
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::poll_delay_ns);
  f.scheduler.all_compute = false;  // one sleeps in the poller
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::last_delay_ns);
  f.scheduler.one_looks_for_work = true;  // and may find some that is long
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::poll_delay_ns);
  f.monitor.begin_anew();
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::first_delay_ns);
}

// Tried with a strand that waited just now as one that never did: fails.
TEST_CASE("monitor: looks often enough for the poller for some time after a strand waited for a descriptor") {
  fixture f;
  for (int i = 0; i != 100; ++i) f.look_after(0);
  f.scheduler.strands_await_descriptors = true;
  f.monitor.serve_waits(f.scheduler, f.now, false);
  f.scheduler.strands_await_descriptors = false;
  f.monitor.serve_waits(f.scheduler, f.now + tuning::last_delay_ns - 1, false);
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::poll_delay_ns);
  f.monitor.serve_waits(f.scheduler, f.now + tuning::last_delay_ns, false);
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::last_delay_ns);
}

// Tried without the looks by the clock, and with such looks after each event: fails.
TEST_CASE("monitor: sleeps in the poller while strands wait for descriptors, unless events come too often") {
  fixture f;
  for (int i = 0; i != 100; ++i) f.look_after(0);
  f.scheduler.strands_await_descriptors = true;
  CHECK(!f.monitor.awaits_events(f.scheduler));
  f.scheduler.poller_is_open = true;
  f.scheduler.overdue_at = fj::detail::never;
  CHECK(f.monitor.awaits_events(f.scheduler));
  CHECK(f.monitor.delay_ns(f.scheduler) == tuning::last_delay_ns);
  for (int i = 0; i != 10; ++i) {
    f.now += tuning::poll_delay_ns;
    f.monitor.serve_waits(f.scheduler, f.now, true);
    CHECK(f.scheduler.polls == i + 1);
    CHECK(f.monitor.awaits_events(f.scheduler));
  }
  f.now += tuning::poll_delay_ns - 1;
  f.monitor.serve_waits(f.scheduler, f.now, true);
  CHECK(f.scheduler.polls == 11);
  for (std::int64_t since = 0; since < tuning::last_delay_ns; since += tuning::poll_delay_ns) {
    CHECK(!f.monitor.awaits_events(f.scheduler));
    CHECK(f.monitor.delay_ns(f.scheduler) == tuning::poll_delay_ns);
    f.now += tuning::poll_delay_ns;
    f.monitor.serve_waits(f.scheduler, f.now, false);
  }
  CHECK(f.monitor.awaits_events(f.scheduler));
  f.scheduler.all_compute = false;  // one sleeps in the poller itself
  CHECK(!f.monitor.awaits_events(f.scheduler));
}

// Tried with a poll at each look, with none, and with timers that fire while a P is idle, and not while all compute:
// fails.
TEST_CASE("monitor: polls if that is overdue, and fires timers while all P compute") {
  fixture f;
  f.scheduler.overdue_at = f.now + 1;
  f.monitor.serve_waits(f.scheduler, f.now, false);
  CHECK(f.scheduler.polls == 0);
  CHECK(f.scheduler.fired == 1);
  ++f.now;
  f.monitor.serve_waits(f.scheduler, f.now, false);
  CHECK(f.scheduler.polls == 1);
  CHECK(f.scheduler.fired == 2);
  f.scheduler.all_compute = false;
  f.monitor.serve_waits(f.scheduler, f.now, false);
  CHECK(f.scheduler.polls == 2);
  CHECK(f.scheduler.fired == 2);
}

TEST_CASE("monitor: serves the first timer unless a P is idle, whose timekeeper does") {
  fixture f;
  CHECK(f.monitor.first_timer(f.scheduler) == fj::detail::never);
  f.scheduler.first_timer = 7;
  CHECK(f.monitor.first_timer(f.scheduler) == 7);
  f.scheduler.one_is_idle = true;
  CHECK(f.monitor.first_timer(f.scheduler) == fj::detail::never);
}

// The protocol with a worker that arms a timer is monitor_model's.
TEST_CASE("monitor: sleeps no longer than until the first timer, and not after a poke") {
  using fj::detail::monitor_word;
  using fj::detail::os::now_ns;
  monitor_word word;
  word.word().store(monitor_word::watching);
  const std::int64_t long_time = 100'000'000'000;
  const std::int64_t due = now_ns() + 2 * tuning::timer_delay_ns;
  const auto sleep = [&](std::int64_t delay, auto first) { word.sleep(delay, first, no_poller); };
  sleep(long_time, [&] { return due; });
  CHECK(now_ns() >= due);
  CHECK(now_ns() < due + long_time / 2);
  fj::detail::poller poller;
  sleep(long_time, [&] {
    word.wake_by(now_ns() + long_time / 2, poller);
    return fj::detail::never;
  });
  CHECK(word.word().load() == monitor_word::poked);
  word.wake_by(0, poller);  // once is enough
  CHECK(word.word().load() == monitor_word::poked);
  sleep(0, [] { return fj::detail::never; });
  CHECK(word.word().load() == monitor_word::watching);
}

// Tried with a poke that wakes the futex alone: hangs for 100 s.
TEST_CASE("monitor: an event and a poke end a sleep in the poller") {
  using fj::detail::monitor_word;
  const auto never = [] { return fj::detail::never; };
  const std::int64_t long_time = 100'000'000'000;
  fj::detail::poller poller;
  REQUIRE(poller.open() == 0);
  monitor_word word;
  word.word().store(monitor_word::watching);
  CHECK(!word.sleep(0, never, &poller));
  std::thread pokes([&] {
    while (word.word().load() != monitor_word::awaiting) std::this_thread::yield();
    word.wake_by(0, poller);
  });
  CHECK(!word.sleep(long_time, never, &poller));
  pokes.join();
  CHECK(word.word().load() == monitor_word::poked);
  poller.interrupt();  // as an event, until a worker sleeps there
  CHECK(word.sleep(long_time, never, &poller));
  CHECK(word.word().load() == monitor_word::watching);
}

// Tried without the poked one: it never rests. Tried from any state but the end: it rests before it is said to watch.
TEST_CASE("monitor: rests though it has been poked, and not before it is said to watch, nor if it is to end") {
  using fj::detail::monitor_word;
  fj::detail::poller poller;
  monitor_word word;
  CHECK(!word.begin_rest());
  CHECK(word.word().load() == monitor_word::unstarted);
  for (const auto before : {monitor_word::watching, monitor_word::poked}) {
    word.word().store(before);
    CHECK(word.begin_rest());
    CHECK(word.word().load() == monitor_word::resting);
  }
  word.word().store(monitor_word::watching);
  CHECK(word.end(poller) == monitor_word::watching);
  CHECK(!word.begin_rest());
}

// Tried with a poller that is overdue though no strand waits, and after as long as a slice: fails.
TEST_CASE("poller: overdue if a strand waits and no thread has looked for some time") {
  fj::detail::poller p;
  const std::int64_t before = fj::detail::os::now_ns();
  CHECK(!p.is_overdue(before));
  p.begin_wait();
  CHECK(p.is_overdue(before));
  REQUIRE(p.open() == 0);
  CHECK(!p.poll());  // finds nothing
  CHECK(!p.is_overdue(before));
  CHECK(p.is_overdue(fj::detail::os::now_ns() + tuning::poll_delay_ns));
  p.end_wait();
  CHECK(!p.is_overdue(fj::detail::os::now_ns() + tuning::poll_delay_ns));
  p.close();
}
