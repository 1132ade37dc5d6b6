// Runtimes made, used and ended, again and again.
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "test/support.hpp"
#include "test/threads.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

}  // namespace

TEST_CASE("lifetime: every worker count from 1 to 8, a thousand times") {
  for (unsigned p = 1; p <= 8; ++p) {
    CAPTURE(p);
    const test::watchdog dog("a thousand runtimes", p);
    unsigned wrong = 0;
    for (unsigned round = 0; round < test::divided(1000u); ++round) {
      fj::runtime rt(test::with_procs(p));
      wrong += rt.run([] { return fib(10); }) != 55;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("lifetime: ended at any moment of its workers' search") {
  // The job is over while workers spin, park, are being woken.
  for (const unsigned p : {2u, 3u, 8u}) {
    const test::watchdog dog("ended while workers spin", p);
    for (unsigned round = 0; round < test::divided(1000u); ++round) {
      fj::runtime rt(test::with_procs(p));
      rt.run([] { fj::fork_join([] {}, [] {}); });
      for (volatile unsigned delay = round % 64 * 50; delay > 0;) delay = delay - 1;
    }
  }
}

TEST_CASE("lifetime: ended on another thread right after run returned") {
  for (const unsigned p : {1u, 2u, 8u}) {
    const test::watchdog dog("ended elsewhere", p);
    for (unsigned round = 0; round < test::divided(500u); ++round) {
      auto rt = std::make_unique<fj::runtime>(test::with_procs(p));
      rt->run([] { fib(5); });
      std::thread([moved = std::move(rt)]() mutable { moved.reset(); }).join();
    }
  }
}

TEST_CASE("lifetime: the destructor waits for callers that are inside run") {
  for (const unsigned p : {1u, 2u, 8u}) {
    const test::watchdog dog("ended under way", p);
    for (unsigned round = 0; round < test::divided(200u); ++round) {
      auto rt = std::make_unique<fj::runtime>(test::with_procs(p));
      std::atomic<int> inside{0}, right{0};
      std::vector<std::thread> callers;
      for (int t = 0; t < 3; ++t)
        callers.emplace_back([&, raw = rt.get()] {
          right += raw->run([&] {
            ++inside;
            return fib(8);
          }) == 21;
        });
      // All callers are inside run: with fewer P than callers, the others wait in it. The test cannot see that.
      test::spin_until([&] { return inside == 3; });
      rt.reset();
      for (auto& caller : callers) caller.join();
      CHECK(right == 3);
    }
  }
}

TEST_CASE("lifetime: many runtimes at a time, on several threads") {
  const test::watchdog dog("many runtimes", 0);
  std::vector<std::thread> threads;
  std::atomic<unsigned> wrong{0};
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (unsigned round = 0; round < test::divided(100u); ++round) {
        fj::runtime first(test::with_procs(1 + t)), second(test::with_procs(2));
        wrong += first.run([&] { return fib(7) + second.run([] { return fib(6); }); }) != 21;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

// Once all threads sleep, none runs again: nothing wakes them, and they wait without a timeout. A worker that looks for
// work on a crowded CPU naps, so they have to sleep for longer than such a nap. The time that the test watches is no
// bound: on a slow machine it sees more. Tried with futex_wait returning after 10 ms: fails.
TEST_CASE("lifetime: a runtime without work uses no processor" *
          doctest::skip(test::sanitized)) {  // TSan's thread wakes
  for (const unsigned p : {1u, 2u, 3u, 8u, 64u}) {
    CAPTURE(p);
    const test::watchdog dog("idle", p);
    fj::runtime rt(test::with_procs(p));
    CHECK(rt.run([] { return fib(20); }) == 6765);
    auto before = test::other_threads();
    for (bool calm = false; !calm;) {
      test::spin_until(test::all_others_sleep);
      before = test::other_threads();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      calm = test::other_threads() == before;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK((test::other_threads() == before));
  }
}
