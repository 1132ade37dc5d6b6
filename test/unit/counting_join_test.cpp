// The counting join: children that arrive before and after the home strand waits, and forks of other strands.
#include "forkjoin/abi/counting_join.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "test/support.hpp"

namespace {

using fj::detail::counting_join;

}  // namespace

TEST_CASE("counting_join: nothing stolen, nothing to do") {
  counting_join j;
  CHECK(j.touched() == 0);
  CHECK(j.stolen_count() == 0);
  CHECK(j.all_arrived());
  CHECK(j.touched() == 0);
}

TEST_CASE("counting_join: children that arrive before the join, also before they are counted") {
  counting_join j;
  for (int round = 0; round < 3; ++round) {
    CHECK(!j.arrive());
    j.stolen();
    j.stolen();
    CHECK(j.stolen_count() == 2);
    CHECK(j.touched() != 0);
    CHECK(!j.arrive());
    CHECK(j.all_arrived());
    CHECK(j.touched() == 0);
    CHECK(j.stolen_count() == 0);
  }
}

TEST_CASE("counting_join: the last child resumes the strand that waits") {
  counting_join j;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3; ++i) j.stolen();
    CHECK(!j.arrive());
    CHECK(!j.all_arrived());
    CHECK(j.wait());
    CHECK(!j.arrive());
    CHECK(j.arrive());
    j.go_on();
    CHECK(j.touched() == 0);
  }
}

TEST_CASE("counting_join: all have arrived when it is about to wait") {
  counting_join j;
  for (int round = 0; round < 3; ++round) {
    j.stolen();
    CHECK(!j.all_arrived());
    CHECK(!j.arrive());
    CHECK(!j.wait());
    j.go_on();
    CHECK(j.touched() == 0);
  }
}

TEST_CASE("counting_join: forks of other strands") {
  counting_join j;
  j.stolen();
  j.fork_elsewhere();
  CHECK(!j.all_arrived());
  CHECK(j.wait());
  j.fork_elsewhere();
  CHECK(!j.arrive());
  CHECK(!j.arrive());
  CHECK(j.arrive());
  // The strand has been resumed and has not gone on yet. A fork now counts for the next join.
  j.fork_elsewhere();
  CHECK(!j.arrive());
  j.fork_elsewhere();
  j.go_on();
  CHECK(j.touched() != 0);
  CHECK(!j.all_arrived());
  CHECK(!j.arrive());
  CHECK(j.all_arrived());
  CHECK(j.touched() == 0);
}

// If go_on sets the word to zero, the last join ends too early. If fork_elsewhere leaves the constant in place, more
// than one child resumes the strand. test/model checks the memory orders.
TEST_CASE("counting_join: exactly one child resumes each join while other strands fork") {
  const test::watchdog dog("counting_join", 4);
  counting_join j;
  std::atomic<int> children{0}, resumed{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {  // run the children that the home strand forks
      for (;;) {
        int n = children.load();
        if (n == 0 && over) return;
        if (n == 0 || !children.compare_exchange_strong(n, n - 1)) {
          std::this_thread::yield();
        } else if (j.arrive()) {
          ++resumed;
        }
      }
    });
  std::atomic<long> forked{0}, arrived{0};
  threads.emplace_back([&] {
    while (!over) {
      j.fork_elsewhere();
      ++forked;
      std::this_thread::yield();
      ++arrived;
      if (j.arrive()) ++resumed;
    }
  });
  int too_often = 0;
  // Fewer rounds on a busy machine, because every round waits for other threads.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (unsigned round = 0; round < test::divided(20'000u) && std::chrono::steady_clock::now() < end; ++round) {
    for (unsigned i = 0; i <= round % 3; ++i) {
      ++children;
      j.stolen();
    }
    if (j.all_arrived()) continue;
    if (j.wait()) {
      test::spin_until([&] { return resumed > 0; });
      too_often += resumed.exchange(0) != 1;
    }
    j.go_on();
  }
  over = true;
  for (std::thread& t : threads) t.join();
  CHECK(too_often == 0);
  CHECK(resumed == 0);
  CHECK(children == 0);
  CHECK(j.all_arrived());
  CHECK(forked == arrived);
}
