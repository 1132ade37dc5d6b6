// What fibers do is read while they do it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <source_location>
#include <string>
#include <thread>

#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"
#include "runtime/fibers.hpp"
#include "runtime/stacks/wait_place.hpp"
#include "test/support.hpp"

namespace {

long talking_fib(int n) {
  if (n < 2) return n;
  fj::channel<long> results(0);
  auto [a, b] = fj::fork_join(
      [=] {
        auto sends = fj::go([=] { results.send(talking_fib(n - 2)); });
        const long got = *results.receive();
        sends.get();
        return got;
      },
      [=] { return talking_fib(n - 1); });
  return a + b;
}

}  // namespace

TEST_CASE("fibers are described while they come and go, and wait in many places") {
  for (const unsigned p : {1u, 2u, 8u}) {
    CAPTURE(p);
    fj::runtime rt(test::with_procs(p));
    auto result = rt.go([] {
      long sum = 0;
      for (int i = 0; i < test::divided(20); ++i) sum += talking_fib(10);
      return sum;
    });
    fj::detail::scheduler* here = nullptr;
    rt.run([&] { here = fj::detail::current_scheduler(); });
    std::string text;
    int calls = 0;
    do {
      text = fj::detail::describe_fibers(*here);
      CHECK(text.starts_with("forkjoin: a runtime with " + std::to_string(p) + " P\n  P 0: "));
      ++calls;
    } while (!result.ready());
    CHECK(calls > 0);
    CHECK(result.get() == test::divided(20) * 55L);
  }
}

// Without the monitor's look the fiber that computes would wait for ever.
TEST_CASE("an event is seen while every worker computes") {
  const test::watchdog dog("an event while every worker computes", 1);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  fj::runtime rt(test::with_procs(1));
  auto reads = rt.go([&] { fj::readable(ends[0]); });
  auto computes = rt.go([&] {
    fj::detail::scheduler& here = *fj::detail::current_scheduler();
    const auto says = [&](const char* what) {
      return fj::detail::describe_fibers(here).find(what) != std::string::npos;
    };
    while (!says("wait in fj::readable")) fj::yield();
    CHECK(write(ends[1], "x", 1) == 1);
    while (!says(": ready, and wait for a P")) {}
  });
  computes.get();
  reads.get();
  close(ends[0]);
  close(ends[1]);
}

// Without its place (tried), the second wait was shown as one at a join.
TEST_CASE("fibers: a condition variable's wait for its mutex is shown as its wait") {
  const test::watchdog dog("a condition variable's wait for its mutex", 1);
  fj::runtime rt(test::with_procs(1));
  fj::mutex m;
  fj::condition_variable told;
  auto waits = rt.go([&] {
    std::unique_lock lock(m);
    told.wait(lock);
  });
  const auto what_waits = [](fj::detail::scheduler& here) {
    const std::string text = fj::detail::describe_fibers(here);
    CAPTURE(text);
    CHECK(text.find("wait in fj::condition_variable::wait") != std::string::npos);
    CHECK(text.find("wait at a join") == std::string::npos);
  };
  rt.run([&] {
    fj::detail::scheduler& here = *fj::detail::current_scheduler();
    for (int i = 0; i < 10; ++i) fj::yield();
    what_waits(here);
    const std::lock_guard held(m);
    told.notify_one();
    for (int i = 0; i < 10; ++i) fj::yield();  // it waits for the mutex now
    what_waits(here);
  });
  waits.get();
}

// A checker's malloc is not that of glibc, and its own memory is not to be read.
TEST_CASE("fibers: under a checker it cannot be said which are lost, and those that wait long are listed") {
  const test::watchdog dog("lost fibers", 1);
  fj::runtime rt(test::with_procs(1));
  const fj::channel<int> c(0);
  auto waits = rt.go([=] { return c.receive().value_or(0); });
  while (fj::count_fibers().waiting == 0) std::this_thread::yield();
  const fj::lost_report report = fj::lost_fibers();
  CAPTURE(report.text());
  CHECK(report.fibers.empty());
  if (test::sanitized || RUNNING_ON_VALGRIND) CHECK(!report.not_available.empty());
  if (report.not_available.empty()) {
    CHECK(report.text().empty());
    CHECK(report.wait_long.empty());
  } else {
    REQUIRE(report.wait_long.size() == 1);
    CHECK(std::string(report.wait_long[0].what) == "fj::channel::receive");
    CHECK(report.wait_long[0].waits.line == report.wait_long[0].started.line);
    CHECK(report.text().find("forkjoin: these wait long:\n  1 fiber (") != std::string::npos);
    if (test::sanitized) CHECK(report.not_available == "the library was built with a sanitizer");
    if (RUNNING_ON_VALGRIND) CHECK(report.not_available == "the program runs in valgrind");
  }
  c.send(1);
  CHECK(waits.get() == 1);
}

// Tried without the versions: parts of two waits in some readings of a thousand.
TEST_CASE("fibers: what is shown of a wait is of one wait") {
  fj::detail::shown_wait_place shown;
  std::atomic<bool> over{false};
  static const char* const texts[] = {"first", "second"};
  const auto place = [](int which) {
    return fj::detail::wait_place{texts[which], which == 0 ? std::source_location::current() : std::source_location()};
  };
  const fj::detail::wait_place first = place(0), second = place(1);
  std::thread strand([&] {
    while (!over) {
      shown.show(first);
      shown.hide();
      shown.show(second);
      shown.hide();
    }
  });
  unsigned seen = 0, mixed = 0;
  while (seen < test::divided(20'000u)) {
    const std::uint32_t version = shown.version();
    const char* const what = shown.what();
    const auto line = shown.line();
    const char* const function = shown.function();
    if (!shown.is_still(version) || !what) continue;
    ++seen;
    const fj::detail::wait_place& of = what == texts[0] ? first : second;
    mixed += line != of.at.line() || function != of.at.function_name();
  }
  over = true;
  strand.join();
  CHECK(mixed == 0);
}
