// Fibers of their own: how they start, end, fail, stop, and wait for one another.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "test/support.hpp"

namespace {

int tree(int depth) {
  if (depth == 0) return 1;
  auto [a, b] = fj::fork_join([=] { return tree(depth - 1); }, [=] { return tree(depth - 1); });
  return a + b;
}

}  // namespace

TEST_CASE("go: results of every kind, from outside of the runtime and from inside") {
  test::for_each_runtime("results of go", [](fj::runtime& rt, unsigned, test::stealing) {
    CHECK(rt.go([] { return 42; }).get() == 42);
    int there = 0;
    CHECK(&rt.go([&]() -> int& { return there; }).get() == &there);
    rt.go([&] { there = 1; }).get();
    CHECK(there == 1);
    CHECK(*rt.go([given = std::make_unique<int>(7)]() mutable { return std::move(given); }).get() == 7);
    CHECK(rt.go([] { return tree(8); }).get() == 256);
    CHECK(rt.run([] {
      auto a = fj::go([] { return tree(5); });
      auto b = fj::go([] { return tree(6); });
      return a.get() + b.get();
    }) == 96);
  });
  CHECK(fj::go([] { return fj::this_proc() >= 0; }).get());
}

TEST_CASE("go: an exception comes to get, and the future is not valid afterwards") {
  test::for_each_runtime("exceptions of go", [](fj::runtime& rt, unsigned, test::stealing) {
    auto failed = rt.go([]() -> std::string { throw std::runtime_error("this one"); });
    failed.wait();
    CHECK(failed.ready());
    CHECK_THROWS_WITH(failed.get(), "this one");
    CHECK(!failed.valid());
    CHECK_THROWS_AS(failed.get(), std::logic_error);
    CHECK_THROWS_AS(fj::future<int>().get(), std::logic_error);
  });
}

TEST_CASE("go: a dropped future leaves its fiber to itself, and the end of the runtime waits for it") {
  // Tried without begin_job in job_of_go::start: the end of the first runtime hung.
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("dropped futures", p);
    std::atomic<int> ended{0};
    {
      fj::runtime rt(test::with_procs(p));
      for (int i = 0; i < 100; ++i) {
        static_cast<void>(rt.go([&] {
          for (int k = 0; k < 10; ++k) fj::yield();
          ++ended;
        }));
      }
    }
    CHECK(ended == 100);
  });
}

TEST_CASE("go: request_stop and the end of the runtime ask the fiber's token") {
  test::for_each_runtime("stop tokens of go", [](fj::runtime& rt, unsigned, test::stealing) {
    auto waits = [](fj::stop_token stop) {
      fj::channel<int> never(0);
      try {
        never.receive({.stop = &stop});
      } catch (const fj::cancelled&) {
        return 1;
      }
      return 0;
    };
    auto asked = rt.go(waits);
    CHECK(asked.request_stop());
    CHECK(asked.get() == 1);
    CHECK(!rt.go([] {}).request_stop());
  });
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("the end of a runtime", p);
    std::atomic<int> stopped{0};
    {
      fj::runtime rt(test::with_procs(p));
      for (int i = 0; i < 20; ++i) {
        static_cast<void>(rt.go([&](fj::stop_token stop) {
          fj::semaphore never(0);
          try {
            never.acquire({.stop = &stop});
          } catch (const fj::cancelled&) {
            ++stopped;
          }
        }));
      }
    }
    CHECK(stopped == 20);
  });
}

TEST_CASE("go: a wait for a future ends when its own token is asked, and the future stays valid") {
  test::for_each_runtime("stopped waits", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::channel<int> gate(0);
    auto late = rt.go([&] { return *gate.receive(); });
    fj::stop_source source;
    const fj::stop_token token = source.get_token();
    auto waits = rt.go([&] {
      try {
        late.wait({.stop = &token});
      } catch (const fj::cancelled&) {
        return true;
      }
      return false;
    });
    source.request_stop();
    CHECK(waits.get());
    gate.send(3);
    CHECK(late.get() == 3);
  });
}

TEST_CASE("go: while a branch of a fork waits, other workers or this one take its continuation") {
  // Also on one P. With steal_every_fork the continuation runs after the child, which waits for it here.
  test::for_each_runtime("waits in forks", [](fj::runtime& rt, unsigned, test::stealing how) {
    if (how == test::stealing::every_fork) return;
    for (int round = 0; round < test::divided(100); ++round) {
      fj::channel<int> c(0);
      const int sum = rt.run([&] {
        auto [a, b, d] = fj::fork_join([&] { return *c.receive(); }, [&] { return *c.receive(); },
                                       [&] {
                                         c.send(1);
                                         c.send(2);
                                         return tree(4);
                                       });
        return a + b + d;
      });
      CHECK(sum == 19);
    }
  });
}

TEST_CASE("go: yield lets the other fibers of a P run first") {
  const test::watchdog dog("yield", 1);
  fj::runtime rt(test::with_procs(1));
  // Each waits for the other by yielding only; neither would end otherwise.
  std::atomic<int> turn{0};
  auto player = [&](int me) {
    return [&turn, me] {
      for (int round = 0; round < 1000; ++round) {
        while (turn.load() != me) fj::yield();
        turn.store(1 - me);
      }
      return true;
    };
  };
  auto a = rt.go(player(0));
  auto b = rt.go(player(1));
  CHECK(a.get());
  CHECK(b.get());
  // A caller of run gives its P to fibers that are not its own.
  auto loose = rt.go(player(0));
  CHECK(rt.run(player(1)));
  CHECK(loose.get());
}

TEST_CASE("go: ten thousand fibers wait at once, and all are woken") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("many fibers", p);
    fj::runtime rt(test::with_procs(p));
    const int n = test::divided(10'000);
    fj::channel<int> in(0);
    std::vector<fj::future<int>> all;
    for (int i = 0; i < n; ++i) all.push_back(rt.go([=] { return *in.receive(); }));
    long sum = 0;
    for (int i = 0; i < n; ++i) in.send(i);
    for (auto& each : all) sum += each.get();
    CHECK(sum == static_cast<long>(n) * (n - 1) / 2);
  });
}

TEST_CASE("go: fibers of two runtimes, and threads outside, talk with one another") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("two runtimes that talk", p);
    fj::runtime here(test::with_procs(p)), there(test::with_procs(2));
    fj::channel<int> to(0), back(1);
    auto echo = there.go([=]() mutable {
      for (const int each : to) back.send(each + 1);
      back.close();
    });
    auto asks = here.go([=]() mutable {
      int sum = 0;
      for (int i = 0; i < test::divided(1000); ++i) {
        to.send(i);
        sum += *back.receive() - i;
      }
      return sum;
    });
    int from_thread = 0;
    CHECK(asks.get() == test::divided(1000));
    std::thread outside([&] {
      to.send(41);
      from_thread = *back.receive();
    });
    outside.join();
    CHECK(from_thread == 42);
    to.close();
    echo.get();
  });
}

// Tried with a request_stop that asks only the fibers that are there: the destructor waits for ever.
TEST_CASE("go: a fiber that starts while its runtime ends is asked to stop at once") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("fibers started at the end", p);
    std::atomic<int> stopped{0};
    {
      fj::runtime rt(test::with_procs(p));
      // The acceptor of a server, in slow motion: it starts one more when it has been asked itself.
      static_cast<void>(rt.go([&](const fj::stop_token& end) {
        const auto wait = [&stopped](const fj::stop_token& token) {
          CHECK_THROWS_AS(fj::channel<int>(0).receive({.stop = &token}), fj::cancelled);
          ++stopped;
        };
        wait(end);
        static_cast<void>(fj::go(wait));
        static_cast<void>(fj::go([wait](const fj::stop_token& token) {
          static_cast<void>(fj::go(wait));
          wait(token);
        }));
      }));
    }
    CHECK(stopped == 4);
  });
}

namespace {

// Uses so many KiB of stack.
[[gnu::noinline]] int use_stack(int kibibytes) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(kibibytes % 100);
  return kibibytes <= 1 ? 1 : use_stack(kibibytes - 1) + frame[0] - frame[0];
}

}  // namespace

TEST_CASE("go: stacks of any size") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("stacks of any size", p);
    fj::runtime rt({.procs = p, .stack_size = std::size_t{1} << 20});
    // On small stacks, on those of forks, and on larger ones than the runtime has otherwise.
    for (const int kibibytes : {0, 64, 192, 500, 1000, 3000, 20'000}) {
      const fj::go_options wanted{.stack_size = static_cast<std::size_t>(kibibytes) << 10};
      for (int round = 0; round < 3; ++round) {
        std::vector<fj::future<int>> all;
        for (int i = 0; i < 5; ++i) all.push_back(rt.go(wanted, [=] { return use_stack(kibibytes * 3 / 4); }));
        for (auto& each : all) CHECK(each.get() == 1);
        CHECK(rt.run([=] { return fj::go({.stack_size = wanted.stack_size}, [] { return tree(6); }).get(); }) == 64);
      }
    }
    CHECK(rt.stats().stacks_peak >= 5);
    fj::go_options named{.stack_size = 1 << 20};  // not taken for the function
    CHECK(rt.go(named, [] { return 3; }).get() == 3);
    CHECK(fj::go(fj::go_options{.stack_size = 1 << 20}, [] { return 3; }).get() == 3);
    CHECK(rt.run([] {
      return fj::go({.stack_size = 4 << 20}, [](const fj::stop_token& end) { return end.stop_requested(); }).get();
    }) == false);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(rt.go({.stack_size = (std::size_t{1} << 40) + 1}, [] {})),
        "fj::go: go_options::stack_size is 1099511627777 bytes; set it to at most 1099511627776, or to 0 for "
        "options::go_stack_size",
        std::invalid_argument);
  });
}

// Tried without the look at the pools of large stacks: the fork of the scope throws std::logic_error.
TEST_CASE("go: scopes and waits on a large stack") {
  fj::runtime rt(test::with_procs(2));
  const auto use = [] {
    int sum = 0;
    fj::mutex m;
    fj::with_scope([&](fj::scope& s) {
      for (int i = 0; i < 100; ++i)
        s.fork([&, i] {
          const std::scoped_lock lock(m);
          sum += i;
        });
    });
    return sum;
  };
  CHECK(rt.go({.stack_size = std::size_t{64} << 20}, use).get() == 4950);
}
