// The counts of idle P, of workers that spin and of workers that can be woken, without a scheduler.
#include "runtime/sched/parking.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "test/support.hpp"

namespace {

using fj::detail::parking;

// Stands for a deque.
struct probe {
  bool empty = true;
  int requests = 0;
  int looks = 0;
  void request() { ++requests; }
  bool looks_empty() {
    CHECK(requests > 0);  // first the request, then the look
    ++looks;
    return empty;
  }
};

}  // namespace

TEST_CASE("parking: no worker is woken unless a P is idle and no worker spins") {
  parking counts;
  CHECK(!counts.should_wake());
  CHECK(!counts.begin_waking());
  counts.processor_idle();
  CHECK(counts.idle() == 1);
  CHECK(counts.should_wake());
  CHECK(counts.begin_waking());
  CHECK(!counts.should_wake());   // a woken worker spins
  CHECK(!counts.begin_waking());  // one at a time
  counts.stop_spinning();
  CHECK(counts.should_wake());
  counts.processor_taken();
  CHECK(!counts.should_wake());
}

TEST_CASE("parking: hungry if a worker spins, or if a P is idle and there is a thread for it") {
  parking counts;
  CHECK(!counts.hungry());
  counts.processor_idle();
  CHECK(!counts.hungry());
  counts.thread_available();
  CHECK(counts.hungry());
  counts.thread_taken();
  CHECK(!counts.hungry());
  counts.start_spinning();
  CHECK(counts.hungry());
  counts.stop_spinning();
  CHECK(!counts.hungry());
}

TEST_CASE("parking: half as many workers spin as work") {
  constexpr int procs = 8;
  parking counts;
  int spinning = 0;
  while (counts.may_spin(procs)) counts.start_spinning(), ++spinning;
  CHECK(spinning == 4);
  for (int i = 0; i < procs - 1; ++i) counts.processor_idle();
  CHECK(!counts.may_spin(procs));
  while (spinning-- > 0) counts.stop_spinning();
  CHECK(counts.may_spin(procs));  // the one worker may look
}

TEST_CASE("parking: a P that retires is not idle, and no worker holds it") {
  parking counts;
  constexpr int procs = 3;
  for (int i = 0; i < 2; ++i) counts.processor_idle();
  counts.set_surplus(1);
  counts.idle_processor_retires();
  CHECK(counts.idle() == 1);
  CHECK(counts.retired() == 1);
  CHECK(counts.unheld() == 2);
  CHECK(counts.may_spin(procs));  // the one that works
  counts.processor_taken();
  CHECK(counts.unheld() == 1);
  counts.held_processor_retires();
  CHECK(counts.surplus() == 0);
  CHECK(counts.retired() == 2);
  CHECK(counts.idle() == 0);
  CHECK(!counts.should_wake());
  counts.retired_processor_returns();
  CHECK(counts.idle() == 1);
  CHECK(counts.should_wake());
  counts.retired_processor_returns();
  counts.processor_idle();
  CHECK(counts.unheld() == procs);
}

TEST_CASE("parking: a visit ends without a look unless somebody found no idle P meanwhile") {
  parking counts;
  counts.processor_idle();
  counts.thread_available();
  counts.begin_visit();
  CHECK(counts.idle() == 0);
  CHECK(counts.unheld() == 0);
  CHECK(counts.end_visit());
  CHECK(counts.idle() == 1);
  CHECK(!counts.is_turned_away());
  counts.processor_idle();
  counts.begin_visit();
  counts.begin_visit();
  SUBCASE("an owner that would wake a worker") { CHECK(!counts.hungry()); }
  SUBCASE("a waker") { CHECK(!counts.begin_waking()); }
  SUBCASE("a worker without a P") { CHECK(counts.is_turned_away()); }
  CHECK(!counts.end_visit());
  CHECK(!counts.end_visit());  // as long as none of them looks
  counts.visit_becomes_hold();
  counts.processor_idle();
  CHECK(counts.end_visit());  // the look was for all
  CHECK(counts.idle() == 2);
}

TEST_CASE("parking: every deque gets a request, then a look") {
  std::vector<probe> deques(3);
  const auto each = [&](auto visit) {
    for (probe& deque : deques) visit(deque);
  };
  const auto fence = [&] {
    for (const probe& deque : deques) CHECK(deque.requests > deque.looks);
  };
  CHECK(parking::nothing_left(each, fence));
  for (const probe& deque : deques) CHECK(deque.requests == 1);
  for (const probe& deque : deques) CHECK(deque.looks == 1);
  for (probe& full : deques) {
    full.empty = false;
    CHECK(!parking::nothing_left(each, [] {}));
    full.empty = true;
  }
  CHECK(parking::nothing_left(each, [] {}));
}
