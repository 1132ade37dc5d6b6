// The deque alone: owner and thief in one thread, step by step; then with a thread that steals.
#include "runtime/fork/deque.hpp"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "forkjoin/abi/continuation.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/fork/job.hpp"
#include "runtime/fork/sharing.hpp"
#include "test/support.hpp"

namespace {

using namespace fj::detail;

constexpr std::size_t capacity = 16;

// A deque with room for `capacity` public records, and more than that to push; `depth` of them are pushed and not
// popped.
struct fixture {
  explicit fixture(bool eager = false) {
    storage.reset(new (std::align_val_t(cache_line)) std::byte[sizeof(deque) + capacity * sizeof(deque::slot)]());
    d = new (storage.get()) deque(capacity, eager);
    d->open(&whole);
    for (auto& record : records) record = std::make_unique<continuation>(nullptr);
  }

  // As fork_join's fast path and push_slow.
  void push(bool a_worker_is_hungry = false) {
    const continuation& newest = *records[depth++];
    if (d->push(*records[depth - 1], deque::name_of(newest))) {
      ++slow_pushes;
      d->attend();
      if (a_worker_is_hungry || eager()) d->share();
    }
  }

  // As fork_join's join. True if the record was there.
  bool pop() {
    if (d->pop(*records[--depth])) return true;
    ++slow_pops;
    return d->pop_slow(*records[depth]);
  }

  // The number of the record, -1 if there is none.
  int steal() {
    const auto [record, whose, handled] = d->for_thieves().steal(nullptr);
    if (!record) return -1;
    misplaced += whose != &whole;
    for (std::size_t i = 0; i < records.size(); ++i)
      if (records[i].get() == record) return static_cast<int>(i);
    return -2;
  }

  bool force() {
    if (!forced_sharing::begin(d->for_thieves())) return false;
    os::heavy_fence();
    return forced_sharing::end(d->for_thieves());
  }

  bool eager() const { return is_eager; }

  ~fixture() { CHECK(misplaced == 0); }

  struct free_aligned {
    void operator()(std::byte* memory) const { operator delete[](memory, std::align_val_t(cache_line)); }
  };
  bool is_eager = false;
  job whole{nullptr};
  std::unique_ptr<std::byte[], free_aligned> storage;
  deque* d = nullptr;
  std::array<std::unique_ptr<continuation>, 3 * capacity> records;
  std::size_t depth = 0;
  int slow_pushes = 0, slow_pops = 0, misplaced = 0;
};

struct eager_fixture : fixture {
  eager_fixture() : fixture(true) { is_eager = true; }
};

// Those that force records fence by membarrier themselves, also where the library does so by a signal.
const bool registered = os::membarrier_register();

}  // namespace

TEST_CASE("deque: push and pop are private, and cost nothing after the first") {
  fixture f;
  CHECK(f.d->looks_empty());
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 5; ++i) f.push();
    CHECK(!f.d->looks_empty());
    CHECK(!f.d->has_public());
    CHECK(f.steal() == -1);
    for (int i = 0; i < 5; ++i) CHECK(f.pop());
    CHECK(f.d->looks_empty());
    CHECK(f.d->is_at_rest());
  }
  CHECK(f.slow_pushes == 1);
  CHECK(f.slow_pops == 0);
}

TEST_CASE("deque: share makes the older half public, at least one") {
  fixture f;
  f.push(true);
  CHECK(f.d->has_public());
  CHECK(f.steal() == 0);
  CHECK(!f.d->has_public());
  CHECK(f.d->looks_empty());
  CHECK(!f.pop());
  CHECK(f.d->looks_empty());

  for (int i = 0; i < 5; ++i) f.push();
  CHECK(f.d->public_count() == 0);
  CHECK(f.d->share());
  for (int i = 0; i < 3; ++i) {
    CHECK(f.d->public_count() == static_cast<std::uint64_t>(3 - i));
    CHECK(f.steal() == i);
  }
  CHECK(f.d->public_count() == 0);
  CHECK(f.steal() == -1);
  CHECK(f.d->share());
  CHECK(f.steal() == 3);
  CHECK(f.steal() == -1);
  CHECK(f.pop());
  for (int i = 0; i < 4; ++i) CHECK(!f.pop());
  CHECK(!f.d->share());
}

TEST_CASE("deque: the owner takes public records back") {
  fixture f;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 6; ++i) f.push();
    CHECK(f.d->share());
    CHECK(f.d->has_public());
    for (int i = 0; i < 6; ++i) CHECK(f.pop());
    CHECK(f.d->looks_empty());
    CHECK(!f.d->has_public());
    CHECK(f.steal() == -1);
  }
  CHECK(f.slow_pops == 30);  // three were public each time
}

TEST_CASE("deque: owner and thief at both ends") {
  fixture f;
  for (int i = 0; i < 4; ++i) f.push();
  f.d->share();  // 0, 1
  CHECK(f.steal() == 0);
  CHECK(f.pop());  // 3
  CHECK(f.pop());  // 2
  CHECK(f.pop());  // 1: the last public one
  CHECK(f.steal() == -1);
  CHECK(!f.pop());  // 0 is gone
  CHECK(f.d->is_at_rest());
  CHECK(f.d->looks_empty());
}

TEST_CASE("deque: a request is noticed by the next push, once") {
  fixture f;
  f.push();
  CHECK(f.slow_pushes == 1);
  CHECK(!f.d->requested());
  f.d->request();
  CHECK(f.d->requested());
  f.push();
  CHECK(f.slow_pushes == 2);
  f.push();
  CHECK(f.slow_pushes == 2);
}

TEST_CASE("deque: a watched request asks for nothing" * doctest::skip(!test::may_fence_others())) {
  fixture f;
  f.push();  // clears the request
  f.d->for_thieves().watch();
  CHECK(f.d->asks_nothing());
  f.d->request();
  CHECK(!f.d->asks_nothing());
  f.d->for_thieves().watch();
  CHECK(!f.d->asks_nothing());  // a record is private
  CHECK((f.pop() && f.d->asks_nothing()));
  f.d->request();
  CHECK(!f.d->asks_nothing());
}

TEST_CASE("deque: what does not fit into the public part stays private" * doctest::skip(!registered)) {
  fixture f;
  for (std::size_t i = 0; i < 3 * capacity; ++i) f.push();
  CHECK(f.d->share());
  CHECK(!f.d->share());
  CHECK(!f.force());
  for (int i = 0; i < static_cast<int>(capacity); ++i) CHECK(f.steal() == i);
  CHECK(f.steal() == -1);
  CHECK(!f.d->looks_empty());
  // All are stolen, none is popped: their room is used again. Without clear() the records to come were never public.
  CHECK(f.force());
  for (int i = capacity; i < static_cast<int>(capacity) + 4; ++i) CHECK(f.steal() == i);
  for (std::size_t i = 3 * capacity; i-- > capacity + 4;) CHECK(f.pop());
  for (std::size_t i = capacity + 4; i-- > 0;) CHECK(!f.pop());
  CHECK(f.d->is_at_rest());
  f.push();
  CHECK(f.d->share());
  CHECK(f.steal() == 0);
}

TEST_CASE("deque: a stand-in is pushed, and what it stands for is stolen") {
  fixture f;
  continuation elsewhere(nullptr);
  record_stand_in in_its_place;
  in_its_place.stands_for = &elsewhere;
  f.push();
  CHECK(!f.d->push(in_its_place, deque::name_of(in_its_place)));
  f.push();
  CHECK(f.d->share());
  CHECK(f.steal() == 0);
  CHECK(f.d->for_thieves().steal(nullptr).record == &elsewhere);
  CHECK(f.pop());
  CHECK(!f.d->pop(in_its_place));
  CHECK(!f.d->pop_slow(in_its_place));
  CHECK(!f.pop());
  CHECK(f.d->is_at_rest());
}

TEST_CASE("deque: one without capacity is empty at all times") {
  job whole{nullptr};
  deque d(0, false);
  d.open(&whole);
  continuation record(nullptr);
  for (int i = 0; i < 3; ++i) {
    CHECK(d.push(record, deque::name_of(record)));
    d.attend();
    d.forget();
    CHECK(d.looks_empty());
    CHECK(!forced_sharing::begin(d.for_thieves()));
    CHECK(d.pop(record));
  }
}

TEST_CASE("deque: force takes private records" * doctest::skip(!registered)) {
  fixture f;
  CHECK(!f.force());
  for (int i = 0; i < 4; ++i) f.push();
  CHECK(f.force());
  CHECK(f.steal() == 0);
  CHECK(f.steal() == 1);
  CHECK(f.steal() == -1);
  CHECK(f.force());
  CHECK(f.steal() == 2);
  CHECK(f.force());
  CHECK(f.steal() == 3);
  CHECK(!f.force());
  for (int i = 0; i < 4; ++i) CHECK(!f.pop());
}

TEST_CASE("deque: an owner that pops while a thief uses force" * doctest::skip(!registered)) {
  fixture f;
  for (int i = 0; i < 4; ++i) f.push();
  REQUIRE(forced_sharing::begin(f.d->for_thieves()));
  CHECK(!forced_sharing::begin(f.d->for_thieves()));  // one at a time
  CHECK(!f.d->share());                               // nor does the owner interfere
  CHECK(!f.d->pop(*f.records[3]));
  CHECK(forced_sharing::end(f.d->for_thieves()));
  CHECK(f.d->pop_slow(*f.records[3]));  // private after all
  f.depth = 3;
  CHECK(f.steal() == 0);
  CHECK(f.steal() == 1);
  CHECK(f.steal() == -1);
  CHECK(f.pop());
  CHECK(!f.pop());
  CHECK(!f.pop());

  f.push();
  REQUIRE(forced_sharing::begin(f.d->for_thieves()));
  CHECK(!f.d->pop(*f.records[0]));
  CHECK(!forced_sharing::end(f.d->for_thieves()));  // nothing left
  CHECK(f.steal() == -1);
  CHECK(f.d->pop_slow(*f.records[0]));
  f.depth = 0;
  f.push();
  CHECK(f.slow_pushes == 1);
  CHECK(f.pop());

  for (int i = 0; i < 2; ++i) f.push();
  CHECK(f.d->share());  // 0
  REQUIRE(forced_sharing::begin(f.d->for_thieves()));
  CHECK(!f.d->pop(*f.records[1]));
  CHECK(!forced_sharing::end(f.d->for_thieves()));
  CHECK(f.d->pop_slow(*f.records[1]));
  f.depth = 1;
  CHECK(!forced_sharing::begin(f.d->for_thieves()));  // nothing private
  CHECK(f.steal() == 0);
}

TEST_CASE("deque: open starts anew") {
  fixture f;
  job other{nullptr};
  f.d->open(&other);
  CHECK(f.d->is_at_rest());
  CHECK(f.d->looks_empty());
  CHECK(f.d->whose() == &other);
  CHECK(f.d->push(*f.records[7], deque::name_of(*f.records[7])));  // a fresh one attends
  f.d->attend();
  CHECK(f.d->share());
  CHECK(!f.d->for_thieves().steal(&f.whole).record);  // of another job
  const fj::detail::stolen_record stolen = f.d->for_thieves().steal(&other);
  CHECK(stolen.record == f.records[7].get());
  CHECK(stolen.whose == &other);
  CHECK(f.d->looks_empty());
  f.d->open(&f.whole);  // the strand has suspended, and pops the record elsewhere
  CHECK(!f.d->pop(*f.records[7]));
  CHECK(!f.d->pop_slow(*f.records[7]));
  CHECK(f.d->is_at_rest());
}

// The worker that watched the request may have found work, and look no more. Tried with an `open` for which any request
// will do.
TEST_CASE("deque: open takes the mark off a watched request" * doctest::skip(!test::may_fence_others())) {
  fixture f;
  f.d->for_thieves().watch();
  CHECK(f.d->asks_nothing());
  f.d->open(&f.whole);
  CHECK(!f.d->asks_nothing());
  f.push();
  CHECK(f.slow_pushes == 1);
}

TEST_CASE("deque: a pop that was begun can be taken back") {
  fixture f;
  f.push(true);
  CHECK(!f.d->pop(*f.records[0]));
  f.d->push_back(deque::name_of(*f.records[0]));
  CHECK(!f.d->is_at_rest());
  CHECK(!f.d->looks_empty());
  CHECK(f.steal() == 0);
}

TEST_CASE("deque: eager, everything is public at once") {
  eager_fixture f;
  for (int i = 0; i < 4; ++i) {
    f.push();
    CHECK(f.d->has_public());
  }
  CHECK(f.slow_pushes == 4);
  CHECK(f.steal() == 0);
  CHECK(f.steal() == 1);
  CHECK(f.pop());
  CHECK(f.pop());
  CHECK(f.steal() == -1);
  CHECK(!f.pop());
  CHECK(!f.pop());
  CHECK(f.slow_pops == 4);
  CHECK(f.d->looks_empty());
  CHECK(!forced_sharing::begin(f.d->for_thieves()));
  for (std::size_t i = 0; i < 3 * capacity; ++i) f.push();
  for (std::size_t i = 0; i < 3 * capacity; ++i) CHECK(f.pop());
  CHECK(f.d->is_at_rest());
}

TEST_CASE("deque: random operations of owner and thief in turn, against a plain list" * doctest::skip(!registered)) {
  for (const bool eager : {false, true}) {
    for (std::uint64_t seed = 1; seed <= test::divided(200u); ++seed) {
      fixture plain;
      eager_fixture public_one;
      fixture& f = eager ? public_one : plain;
      test::dice dice(seed);
      std::size_t oldest = 0, depth = 0;  // [oldest, depth) should be there
      bool right = true;
      for (int step = 0; step < 300 && right; ++step) {
        switch (dice.below(6)) {
          case 0:
          case 1:
            if (depth < f.records.size()) f.push(dice.once_in(3)), ++depth;
            break;
          case 2:
          case 3:
            if (depth > 0) {
              right = f.pop() == (depth > oldest);
              --depth;
              if (oldest > depth) oldest = depth;
            }
            break;
          case 4:
            if (const int stolen = f.steal(); stolen >= 0) right = stolen == static_cast<int>(oldest++);
            break;
          default:
            dice.once_in(2) ? static_cast<void>(f.force()) : static_cast<void>(f.d->share());
            break;
        }
        right = right && f.d->looks_empty() == (oldest == depth);
      }
      CAPTURE(eager);
      CAPTURE(seed);
      CHECK(right);
    }
  }
}

TEST_CASE("deque: every record is taken once, by its owner or by a thief" * doctest::skip(!registered)) {
  // Without the fence in take_newest records were taken twice, and without the heavy fence of a thief that uses force.
  for (const bool eager : {false, true})
    for (const unsigned deepest : {1u, static_cast<unsigned>(2 * capacity)}) {
      CAPTURE(eager);
      CAPTURE(deepest);
      const test::watchdog dog("owner and thief", 2);
      fixture plain;
      eager_fixture public_one;
      fixture& f = eager ? public_one : plain;
      std::array<std::atomic<int>, 2 * capacity> taken{};
      std::atomic<bool> started{false}, over{false};
      std::atomic<long> stolen{0};
      std::thread thief([&] {
        test::dice dice(1);
        started = true;
        while (!over) {
          if (const record* const taken_one = f.d->for_thieves().steal(nullptr).record) {
            for (std::size_t i = 0; i < deepest; ++i) taken[i] += f.records[i].get() == taken_one;
            ++stolen;
          } else if (dice.once_in(64)) {
            std::this_thread::yield();  // with one core there is no other way for the owner to go on
          } else if (!eager && dice.once_in(8)) {
            f.force();
          } else {
            f.d->request();
          }
        }
      });
      test::dice dice(2);
      long wrong = 0, pushed = 0, popped = 0;
      test::spin_until([&] { return started.load(); });
      const long rounds = test::divided(300'000L), least_stolen = test::divided(10'000L);
      // Fewer where each look at what the other wrote takes long, as where a host puts both on one core.
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
      const auto may_go_on = [&] { return std::chrono::steady_clock::now() < end; };
      for (long round = 0; (round < rounds || stolen < least_stolen) && wrong == 0 && may_go_on(); ++round) {
        const unsigned depth = 1 + dice.below(deepest);
        for (unsigned i = 0; i < depth; ++i) taken[i].store(0, std::memory_order_relaxed);
        // A walk up and down as a fork tree's; at its end the deque is empty.
        unsigned at = 0;
        for (; at < depth; ++at, ++pushed) f.push(dice.once_in(2));
        // At times long enough for the thief to come in between, and seldom so long that it must.
        for (volatile unsigned delay = deepest == 1 ? dice.below(32) : 0; delay > 0;) delay = delay - 1;
        if (dice.once_in(1000)) std::this_thread::yield();
        while (at-- > 0) {
          if (f.pop()) {
            ++popped;
            wrong += taken[at].fetch_add(1, std::memory_order_relaxed) != 0;
          } else {
            for (unsigned spins = 0; taken[at] == 0; ++spins)
              if (spins > 1000) std::this_thread::yield();
          }
        }
        for (unsigned i = 0; i < depth; ++i) wrong += taken[i] != 1;
      }
      over = true;
      thief.join();
      CHECK(wrong == 0);
      CHECK(popped + stolen == pushed);
    }
}
