// Schedules that repeat, as a program asks for them. test/process/schedules_test.py looks at what they find.
#include <doctest/doctest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/explore.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "forkjoin/parallel_for.hpp"
#include "forkjoin/sort.hpp"
#include "test/support.hpp"

namespace {

using namespace std::chrono_literals;

void nothing() {}

long fib(long n) {
  if (n < 2) return n;
  const auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

fj::options by_seed(std::uint64_t seed, unsigned procs) {
  fj::options wanted = test::with_procs(procs);
  wanted.schedule = fj::replay{seed};
  return wanted;
}

}  // namespace

TEST_CASE("replay: one seed is one schedule, on any number of P") {
  const test::watchdog dog("one seed", 64);
  for (const unsigned procs : {1u, 2u, 3u, 8u, 64u}) {
    CAPTURE(procs);
    std::vector<std::uint64_t> hashes;
    for (const std::uint64_t seed : {1u, 2u, 1u, 2u}) {
      fj::runtime rt(by_seed(seed, procs));
      CHECK(rt.run([] { return fib(10); }) == 55);
      hashes.push_back(rt.stats().schedule_hash);
      CHECK(rt.stats().schedule_choices != 0);
    }
    CHECK(hashes[0] == hashes[2]);
    CHECK(hashes[1] == hashes[3]);
    CHECK(hashes[0] != hashes[1]);
  }
}

TEST_CASE("replay: algorithms and their loops do not depend on the clock") {
  std::vector<std::uint64_t> hashes;
  for (int round = 0; round != 4; ++round) {
    std::vector<int> numbers(5000);
    for (std::size_t i = 0; i != numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7919 % 5000);
    std::atomic<long> sum{0};
    fj::runtime rt(by_seed(5, 3));
    rt.run([&] {
      fj::parallel_sort(numbers);
      fj::parallel_for(0, 20000, [&](int i) {
        if (i % 1000 == 0) sum += i;
      });
    });
    CHECK(std::ranges::is_sorted(numbers));
    CHECK(sum == 190000);
    hashes.push_back(rt.stats().schedule_hash);
  }
  for (const std::uint64_t hash : hashes) CHECK(hash == hashes[0]);
}

TEST_CASE("replay: P is 4 if nothing says how many") {
  if (std::getenv("FORKJOIN_PROCS")) return;
  fj::options wanted;
  wanted.schedule = fj::replay{1};
  CHECK(fj::runtime(wanted).procs() == 4);
}

TEST_CASE("replay: a sleep of an hour takes no time, and fj::now tells of it") {
  const auto begun = std::chrono::steady_clock::now();
  fj::runtime rt(by_seed(1, 2));
  rt.run([] {
    const auto before = fj::now();
    fj::sleep_for(1h);
    CHECK(fj::now() - before >= 1h);
    fj::channel<int> none(0);
    CHECK_THROWS_AS(none.receive({.until = fj::now() + 1h}), fj::timed_out);
    fj::sleep_until(std::chrono::system_clock::now() + 1h);
  });
  CHECK(std::chrono::steady_clock::now() - begun < 10min);
}

TEST_CASE("replay: threads that take no turns are refused") {
  std::optional<fj::runtime> rt(by_seed(1, 2));
  std::thread([&] {
    CHECK_THROWS_AS(rt->run([] {}), std::logic_error);
    CHECK_THROWS_AS(static_cast<void>(rt->go([] {})), std::logic_error);
    CHECK_THROWS_AS(fj::runtime(by_seed(1, 2)), std::logic_error);
    fj::runtime(test::with_procs(2)).run([] { CHECK(fib(5) == 5); });  // without a schedule
  }).join();
  // A second one of this thread has the same turns.
  fj::runtime other(test::with_procs(2));
  CHECK(other.run([&] { return rt->run([] { return fib(5); }); }) == 5);
  rt.reset();
  CHECK(other.run([] { return fib(6); }) == 8);
}

TEST_CASE("replay: schedules that make no sense") {
  for (const char* const text : {"x", "5", "5=", "0=1", "5=3,4=1", "5=99999", "5=1,", "281474976710656=1"}) {
    CAPTURE(text);
    fj::options wanted = by_seed(1, 2);
    wanted.schedule.changes = text;
    const bool is_list = std::string(text) == "5=1,";
    if (is_list) {
      CHECK_NOTHROW(fj::runtime{wanted});
    } else {
      CHECK_THROWS_WITH_AS(fj::runtime{wanted}, doctest::Contains("the schedule is \""), std::invalid_argument);
    }
  }
  fj::options wanted = test::with_procs(2);
  wanted.schedule.changes = "1=1";
  CHECK_THROWS_AS(fj::runtime{wanted}, std::invalid_argument);  // changes of no schedule
}

TEST_CASE("explore: the changes that it prints make the program fail again") {
  const auto deposits = [] {
    fj::mutex m;
    long balance = 0;
    const auto deposit = [&](long amount) {
      m.lock();
      const long seen = balance;
      m.unlock();
      m.lock();
      balance = seen + amount;
      m.unlock();
    };
    fj::fork_join([&] { deposit(10); }, [&] { deposit(20); });
    return balance;
  };
  const fj::exploration found = fj::explore(deposits);
  CHECK(found.failed());
  CHECK(found.repeats);
  CHECK(found.schedules == found.seed);
  CHECK(found.different <= found.schedules);
  fj::options wanted;
  wanted.schedule = {.seed = found.seed, .changes = found.changes.c_str()};
  CHECK(fj::runtime(wanted).run(deposits) != 30);
}

TEST_CASE("explore: what does not fail") {
  int calls = 0;
  const fj::exploration found = fj::explore([&] { return ++calls + fib(6); }, 10, test::with_procs(3));
  CHECK(!found.failed());
  CHECK(found.schedules == 10);
  CHECK(found.different > 5);
  CHECK(calls == 0);  // in copies of the process
  CHECK(!fj::explore(nothing, 2).failed());
  CHECK_THROWS_AS(fj::run([] { fj::explore([] {}); }), std::logic_error);
  CHECK_THROWS_AS(fj::explore([] {}, 1, {.procs = 5000}), std::invalid_argument);
}

// Tried without noticed_ends in os/copy_of_process.cpp: a copy cannot be waited for.
TEST_CASE("explore: in a program that ignores the ends of its children") {
  struct sigaction ignored{};
  ignored.sa_handler = SIG_IGN;
  struct sigaction before{};
  sigaction(SIGCHLD, &ignored, &before);
  CHECK(!fj::explore([] { fib(3); }, 3).failed());
  struct sigaction after{};
  sigaction(SIGCHLD, &before, &after);
  const bool is_as_before = after.sa_handler == SIG_IGN;
  CHECK(is_as_before);
}
