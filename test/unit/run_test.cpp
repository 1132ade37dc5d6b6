// Entering a runtime: results, exceptions, from anywhere, several side by side.
#include "forkjoin/run.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "test/support.hpp"
#include "test/threads.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

}  // namespace

TEST_CASE("run: every kind of result") {
  test::for_each_runtime("results of run", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    int x = 1;
    CHECK(rt.run([] { return 5; }) == 5);
    CHECK(rt.run([] { return std::string(1000, 'x'); }).size() == 1000);
    CHECK(*rt.run([] { return std::make_unique<int>(6); }) == 6);
    static_assert(std::is_void_v<decltype(rt.run([] {}))>);
    rt.run([&] { x = 2; });
    CHECK(x == 2);
    static_assert(std::is_same_v<decltype(rt.run([&]() -> int& { return x; })), int&>);
    CHECK(&rt.run([&]() -> int& { return x; }) == &x);
    CHECK(&rt.run([&]() -> const int& { return x; }) == &x);
    auto mutable_one = [n = 0]() mutable { return ++n; };
    CHECK(rt.run(mutable_one) == 1);
    CHECK(rt.run(mutable_one) == 2);
  });
}

TEST_CASE("run: rethrows") {
  test::for_each_runtime("exceptions of run", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    CHECK_THROWS_WITH_AS(rt.run([]() -> int { throw std::runtime_error("this one"); }), "this one", std::runtime_error);
    CHECK_THROWS_AS(rt.run([] { throw 3; }), int);
    CHECK(rt.run([] { return fib(10); }) == 55);
  });
}

// When the runtime may start no more threads, it wakes callers that wait in run, for records of their own job only.
// With callers woken for any records (tried), two of them wake each other, some ten thousand times a second, as long as
// there are records of a third's job.
TEST_CASE("run: callers that wait do not wake each other for records of another's job") {
  const test::fences all_public(test::stealing::all_public);
  const test::watchdog dog("callers that wait", 4);
  fj::options chosen = test::with_procs(4);
  chosen.max_workers = 1;
  fj::runtime rt(chosen), other(test::with_procs(2));
  std::atomic<int> waiting{0};
  std::atomic<bool> over{false};
  const auto wait_elsewhere = [&] {
    rt.run([&] {
      other.run([&] {
        ++waiting;
        test::spin_until([&] { return over.load(); });
      });
    });
  };
  std::thread first(wait_elsewhere), second(wait_elsewhere);
  test::spin_until([&] { return waiting == 2; });
  std::uint64_t wakeups = 0;
  rt.run([&] {
    std::atomic<bool> stolen{false};
    fj::fork_join(
        [&] {
          test::spin_until([&] { return stolen.load(); });
          fj::fork_join(
              [&] {
                const auto before = rt.stats().total().wakeups;
                // No event tells that no wake-up will come. A slow machine finds fewer, so it passes, too.
                std::this_thread::sleep_for(std::chrono::milliseconds(200));
                wakeups = rt.stats().total().wakeups - before;
                over = true;
              },
              [] {});
        },
        [&] {
          stolen = true;
          test::spin_until([&] { return over.load(); });
        });
  });
  first.join();
  second.join();
  CHECK(wakeups < 10);
}

TEST_CASE("run: from inside it is a plain call") {
  test::for_each_runtime("nested run", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    const bool same_frame = rt.run([&] {
      const auto thread = std::this_thread::get_id();
      int local = 0;
      const bool same = rt.run([&] { return thread == std::this_thread::get_id() && ++local == 1; });
      return same && fj::run([&] { return thread == std::this_thread::get_id() && ++local == 2; });
    });
    CHECK(same_frame);
    // Also in the middle of a computation, at any depth.
    const long sum = rt.run([&] {
      auto [a, b] = fj::fork_join([&] { return rt.run([&] { return fib(10); }); },
                                  [&] { return fj::run([&] { return rt.run([] { return fib(11); }); }); });
      return a + b;
    });
    CHECK(sum == 144);
    CHECK_THROWS_AS(rt.run([&] { rt.run([] { throw 1; }); }), int);
  });
}

TEST_CASE("run: the default runtime") {
  const test::watchdog dog("default runtime", 0);
  CHECK(fj::run([] { return fib(12); }) == 144);
  CHECK(fj::run([] { return fj::procs(); }) == fj::procs());
  CHECK_THROWS_AS(fj::run([] { throw 1; }), int);
  std::thread([] { CHECK(fj::run([] { return fib(12); }) == 144); }).join();
}

TEST_CASE("procs and this_proc") {
  CHECK(fj::this_proc() == -1);
  test::for_each_runtime("procs", [](fj::runtime& rt, unsigned p, test::stealing) {
    CHECK(rt.procs() == p);
    CHECK(rt.run([] { return fj::procs(); }) == p);
    CHECK(rt.stats().procs.size() == p);
    std::atomic<bool> in_range{true};
    struct walk {
      static void down(int depth, unsigned procs, std::atomic<bool>& ok) {
        const auto check = [&] {
          if (const int at = fj::this_proc(); at < 0 || at >= static_cast<int>(procs)) ok = false;
          if (fj::procs() != procs) ok = false;
        };
        check();
        if (depth > 0) fj::fork_join([&] { down(depth - 1, procs, ok); }, [&] { down(depth - 1, procs, ok); });
        check();
      }
    };
    rt.run([&] { walk::down(6, p, in_range); });
    CHECK(in_range);
    CHECK(fj::this_proc() == -1);
  });
  CHECK(fj::procs() >= 1);
}

TEST_CASE("runtime: several side by side, each with its own P") {
  const test::watchdog dog("side by side", 0);
  std::vector<std::unique_ptr<fj::runtime>> all;
  for (const unsigned p : test::procs_to_try) all.push_back(std::make_unique<fj::runtime>(test::with_procs(p)));
  for (int round = 0; round < 3; ++round)
    for (auto& rt : all) {
      CHECK(rt->run([] { return fib(12); }) == 144);
      CHECK(rt->run([] { return fj::procs(); }) == rt->procs());
    }
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (auto& rt : all)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) right += rt->run([] { return fib(13); }) == 233;
    });
  for (auto& thread : threads) thread.join();
  CHECK(right == 100);
}

TEST_CASE("runtime: max_workers bounds the threads, and one P needs none") {
  const test::watchdog dog("max_workers", 8);
  fj::options few = test::with_procs(8);
  few.max_workers = 1;
  fj::runtime rt(few);
  CHECK(rt.run([] { return fib(18); }) == 2584);
  CHECK(rt.stats().procs.size() == 8);
  fj::runtime single(test::with_procs(1));
  CHECK(single.run([] { return fib(18); }) == 2584);
  CHECK(single.stats().total().wakeups == 0);
}

TEST_CASE("runtime: one that never ran anything ends") {
  test::for_each_runtime("idle runtime", [](fj::runtime&, unsigned, test::stealing) {});
}

TEST_CASE("runtime: small stacks work") {
  fj::options small = test::with_procs(2);
  small.stack_size = test::sanitized ? 256 << 10 : 64 << 10;
  const test::watchdog dog("small stacks", 2);
  fj::runtime rt(small);
  CHECK(rt.run([] { return fib(16); }) == 987);
}

TEST_CASE("run: many threads at once on one runtime") {
  test::for_each_runtime("many threads", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) right += rt.run([] { return fib(10); }) == 55;
      });
    for (auto& thread : threads) thread.join();
    CHECK(right == 40);
  });
}

TEST_CASE("run: a caller that waits for its job does not begin another's") {
  // Both P are busy, so the second job queues until the first caller can only wait, and gives up its P. If take_ready
  // gives that caller any job (tried), it does the second job first, which ends only when the first has returned.
  const test::watchdog dog("another's job", 2);
  for (unsigned round = 0; round < test::divided(5u); ++round) {
    fj::runtime rt(test::with_procs(2));
    std::atomic<bool> stolen{false}, begun{false}, returned{false};
    std::atomic<pid_t> caller{0};
    std::thread other([&] {
      test::spin_until([&] { return stolen.load(); });
      caller = gettid();
      rt.run([&] {
        begun = true;
        test::spin_until([&] { return returned.load(); });
      });
    });
    rt.run([&] {
      fj::fork_join(
          [&] {
            test::spin_until([&] { return caller != 0 && test::sleeps(caller); });  // its job waits for a P
          },
          [&] {
            stolen = true;
            test::spin_until([&] { return begun.load(); });
          });
    });
    returned = true;
    other.join();
  }
}

namespace {

struct forks_at_the_end {
  ~forks_at_the_end() {
    fj::fork_join([] { ++forked; }, [] { ++forked; });
    outside = outside && fj::this_proc() == -1;
  }
  static inline std::atomic<int> forked{0};
  static inline std::atomic<bool> outside{true};
};

[[gnu::noinline]] void make_one_for_this_thread() {
  static thread_local forks_at_the_end here;
  asm volatile("" : : "r"(&here));
}

}  // namespace

// Tried with a thread that is still a worker then: it crashes.
TEST_CASE("run: thread_local variables end outside of any runtime, and their destructors may fork") {
  const test::watchdog dog("thread_local", 3);
  std::thread([] {
    fj::runtime rt(test::with_procs(3));
    rt.run([] {
      fj::parallel_for(0, 64,
                       [](int) {
                         make_one_for_this_thread();
                         std::this_thread::sleep_for(std::chrono::microseconds(100));
                       },
                       {.grain = 1});
    });
  }).join();
  CHECK(forks_at_the_end::forked >= 2);
  CHECK(forks_at_the_end::outside);
}
