// The queue of one P's ready fibers, without a scheduler. What Go's SchedLocalQueue, SchedLocalQueueSteal and
// SchedLocalQueueEmpty check, in other words. test/model checks it under the C++ memory model.
#include "runtime/sched/run_queue.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "test/support.hpp"

namespace {

struct entry {
  std::atomic<unsigned> taken{0};
};

using run_queue = fj::detail::run_queue<entry>;
constexpr unsigned capacity = run_queue::capacity;

entry* first_of(run_queue& q) {
  if (entry* const next = q.take_next()) return next;
  return q.take();
}

}  // namespace

TEST_CASE("run queue: first in, first out, as often as the ring goes round") {
  run_queue q;
  std::vector<entry> all(capacity);
  for (unsigned count = 0; count <= capacity; ++count) {
    CHECK(q.empty());
    CHECK(!q.take());
    for (unsigned i = 0; i < count; ++i) CHECK(q.put(all[i]));
    CHECK(q.in_ring() == count);
    for (unsigned i = 0; i < count; ++i) CHECK(q.take() == &all[i]);
  }
}

TEST_CASE("run queue: a full ring takes no more, and half of it makes room") {
  run_queue q;
  std::vector<entry> all(capacity + 1);
  for (unsigned i = 0; i < capacity; ++i) CHECK(q.put(all[i]));
  CHECK(!q.put(all[capacity]));
  const auto half = q.take_half();
  REQUIRE(half.entries().size() == capacity / 2);
  for (unsigned i = 0; i < capacity / 2; ++i) CHECK(half.entries()[i] == &all[i]);
  CHECK(q.put(all[capacity]));
  for (unsigned i = capacity / 2; i <= capacity; ++i) CHECK(q.take() == &all[i]);
}

// Tried with an entry too near, and without a look at how many there are.
TEST_CASE("run queue: what comes after so many others in the ring") {
  run_queue q;
  std::vector<entry> all(capacity);
  for (unsigned round = 0; round != 2; ++round) {  // in the second the ring goes round
    CHECK(!q.first());
    CHECK(!q.after(0));
    const unsigned count = capacity - 3;
    for (unsigned i = 0; i != count; ++i) CHECK(q.put(all[i]));
    CHECK(q.first() == &all[0]);
    for (unsigned i = 0; i != count; ++i) CHECK(q.after(i) == &all[i]);
    CHECK(!q.after(count));
    CHECK(!q.after(capacity));
    for (unsigned i = 0; i != count; ++i) CHECK(q.take() == &all[i]);
  }
}

TEST_CASE("run queue: what runs next comes first, and returns the one before it") {
  run_queue q;
  entry first, second, third;
  CHECK(!q.put_next(first));
  CHECK(!q.empty());
  CHECK(q.in_ring() == 0);
  CHECK(q.put(second));
  CHECK(q.put_next(third) == &first);
  CHECK(q.put(first));
  CHECK(!q.take_next(&first));
  CHECK(q.next() == &third);
  CHECK(first_of(q) == &third);
  CHECK(first_of(q) == &second);
  CHECK(first_of(q) == &first);
  CHECK(q.empty());
}

// Tried with the younger half, and with a half that is rounded down: one entry alone would stay for ever.
TEST_CASE("run queue: a thief gets the older half, rounded up, and each entry once") {
  std::vector<entry> all(capacity);
  for (unsigned count = 0; count <= capacity; ++count) {
    run_queue q;
    for (unsigned i = 0; i < count; ++i) CHECK(q.put(all[i]));
    const auto got = q.take_half();
    REQUIRE(got.entries().size() == (count + 1) / 2);
    for (unsigned i = 0; i < got.entries().size(); ++i) CHECK(got.entries()[i] == &all[i]);
    for (unsigned i = (count + 1) / 2; i < count; ++i) CHECK(q.take() == &all[i]);
    CHECK(q.empty());
  }
}

TEST_CASE("run queue: an owner and thieves take each entry once") {
  constexpr unsigned thieves = 2;
  const unsigned count = test::divided(200'000u);
  const test::watchdog dog("run queue", thieves + 1);
  const auto all = std::make_unique<entry[]>(count);
  run_queue q;
  std::atomic<unsigned> taken{0};
  const auto take = [&](entry* e) {
    if (!e) return;
    ++e->taken;
    ++taken;
  };
  std::vector<std::thread> others;
  for (unsigned i = 0; i < thieves; ++i)
    others.emplace_back([&] {
      while (taken < count) {
        const auto half = q.take_half();
        for (entry* const e : half.entries()) take(e);
        take(q.take_next());
      }
    });
  for (unsigned i = 0; i < count; ++i) {
    entry* out = i % 3 == 0 ? q.put_next(all[i]) : &all[i];
    while (out && !q.put(*out)) take(q.take());
    if (i % 5 == 0) take(first_of(q));
  }
  while (entry* const e = first_of(q)) take(e);
  for (std::thread& t : others) t.join();
  CHECK(q.empty());
  for (unsigned i = 0; i < count; ++i) REQUIRE(all[i].taken == 1);
}
