// Threads that take turns: the same choices are the same schedule, and time passes only where a thread waits for it.
#include "runtime/os/turns.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include "forkjoin/abi/os/clock.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "forkjoin/scope.hpp"
#include "runtime/os/cpu.hpp"
#include "test/support.hpp"

namespace {

using fj::detail::os::turns;

struct by_seed {
  std::mt19937 dice;
  std::vector<unsigned> chosen;

  static turns::taker& next(void* self, turns::taker& first, turns::cause) noexcept {
    auto& mine = *static_cast<by_seed*>(self);
    std::vector<turns::taker*> all;
    for (turns::taker* t = &first; t; t = t->next)
      if (t->can_go_on()) all.push_back(t);
    turns::taker& chosen = *all[mine.dice() % all.size()];
    mine.chosen.push_back(chosen.number);
    return chosen;
  }
};

template <class Body>
std::vector<unsigned> schedule_of(unsigned seed, unsigned procs, Body body) {
  by_seed chooser{std::mt19937(seed), {}};
  const turns all(&by_seed::next, &chooser);
  fj::runtime rt(test::with_procs(procs));
  rt.run([&] { body(); });
  return chooser.chosen;
}

long fib(long n) {
  if (n < 2) return n;
  const auto [a, b] = fj::fork_join([=] { return fib(n - 1); },
                                    [=] {
                                      turns::mine()->pass();
                                      return fib(n - 2);
                                    });
  return a + b;
}

}  // namespace

// Tried with a chooser that draws from the real clock: the schedules differ.
TEST_CASE("turns: the same choices are the same schedule") {
  const test::watchdog dog("the same schedule", 3);
  for (const unsigned procs : {1u, 2u, 3u, 8u}) {
    CAPTURE(procs);
    std::vector<std::vector<unsigned>> all;
    for (unsigned seed = 1; seed != 21; ++seed) {
      long result = 0;
      all.push_back(schedule_of(seed, procs, [&] { result = fib(8); }));
      CHECK(result == 21);
      CHECK(all.back() == schedule_of(seed, procs, [] { fib(8); }));
    }
    if (procs > 1) CHECK(all[0] != all[1]);
  }
}

TEST_CASE("turns: other threads steal what a strand has pushed before it gives its turn up") {
  std::uint64_t steals = 0;
  for (unsigned seed = 1; seed != 21; ++seed) {
    by_seed chooser{std::mt19937(seed), {}};
    const turns all(&by_seed::next, &chooser);
    fj::runtime rt(test::with_procs(3));
    rt.run([] {
      fj::scope s;
      for (int i = 0; i != 4; ++i)
        s.fork([] {
          for (int pass = 0; pass != 20; ++pass) turns::mine()->pass();
        });
      s.join();
    });
    steals += rt.stats().total().steals;
  }
  CHECK(steals > 20);
}

// Tried with a clock that does not move on: the chooser is called though no thread can go on.
TEST_CASE("turns: a thread that sleeps for an hour sleeps at once, if no other can go on") {
  const auto begun = std::chrono::steady_clock::now();
  by_seed chooser;
  const turns all(&by_seed::next, &chooser);
  const std::int64_t before = fj::detail::os::now_ns();
  constexpr std::int64_t hour = 3'600'000'000'000;
  fj::detail::os::sleep_ns(hour);
  CHECK(fj::detail::os::now_ns() >= before + hour);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::minutes(1));
}

TEST_CASE("turns: waits of strands and of threads end in their order") {
  const test::watchdog dog("waits in turns", 2);
  for (unsigned seed = 1; seed != 21; ++seed) {
    std::vector<int> order;
    schedule_of(seed, 2, [&] {
      fj::channel<int> c(0);
      auto one = fj::go([&] {
        fj::sleep_for(std::chrono::hours(2));
        c.send(2);
      });
      auto other = fj::go([&] {
        fj::sleep_for(std::chrono::hours(1));
        c.send(1);
      });
      order.push_back(*c.receive());
      order.push_back(*c.receive());
      one.wait();
      other.wait();
    });
    CHECK(order == std::vector<int>{1, 2});
  }
}
