// Task groups: tasks that any strand or thread starts and waits for.
#include "forkjoin/task_group.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "test/support.hpp"

namespace {

using namespace std::chrono_literals;

long fib(long n) {
  if (n < 2) return n;
  long a = 0;
  fj::task_group g;
  g.run([&] { a = fib(n - 1); });
  const long b = fib(n - 2);
  g.wait();
  return a + b;
}

void fill(fj::task_group& g, std::atomic<int>& ends, int depth) {
  ++ends;
  if (depth == 0) return;
  for (int i = 0; i != 3; ++i) g.run([&, depth] { fill(g, ends, depth - 1); });
}

}  // namespace

TEST_CASE("task_group: as oneTBB's, in a tree") {
  test::for_each_runtime("fib by task groups",
                         [](fj::runtime& rt, unsigned, auto) { rt.run([] { CHECK(fib(12) == 144); }); });
}

TEST_CASE("task_group: tasks start tasks of the same group, and one wait is for all") {
  test::for_each_runtime("tasks of tasks", [](fj::runtime& rt, unsigned, auto) {
    rt.run([] {
      fj::task_group g;
      std::atomic<int> ends = 0;
      fill(g, ends, 5);
      CHECK(g.wait() == fj::task_group_status::complete);
      CHECK(ends == 364);
      fill(g, ends, 2);  // again
      g.wait();
      CHECK(ends == 364 + 13);
    });
  });
}

TEST_CASE("task_group: with one P tasks run in the order of the program, at once") {
  fj::runtime(test::with_procs(1)).run([] {
    std::string order;
    fj::task_group g;
    g.run([&] { order += 'a'; });
    order += 'b';
    g.run([&] { order += 'c'; });
    g.wait();
    if (!std::getenv("FORKJOIN_STEAL_EVERY_FORK") && !std::getenv("FORKJOIN_CHAOS")) CHECK(order == "abc");
  });
}

TEST_CASE("task_group: it outlives the function that starts tasks, and another strand waits") {
  test::for_each_procs([](unsigned procs) {
    fj::runtime rt(test::with_procs(procs));
    rt.run([] {
      struct {
        std::atomic<int> n = 0;
        fj::task_group group;
        void start() {
          for (int i = 0; i != 100; ++i) group.run([this] { ++n; });
        }
      } member;
      fj::fork_join([&] { member.start(); }, [&] { member.start(); });
      fj::go([&] {
        member.group.wait();
        CHECK(member.n == 200);
      }).get();
    });
  });
}

// Tried without the lock of task_count::end at the last task: ASan finds a use of a group that is gone.
TEST_CASE("task_group: it may go as soon as a wait has ended") {
  test::for_each_procs([](unsigned procs) {
    fj::runtime rt(test::with_procs(procs));
    rt.run([] {
      for (int i = 0; i != test::divided(500); ++i) {
        auto g = std::make_unique<fj::task_group>();
        auto tasks = fj::go([&g = *g] {
          for (int task = 0; task != 3; ++task) g.run([] { fj::yield(); });
        });
        tasks.get();
        g->wait();
        g.reset();
      }
    });
  });
}

TEST_CASE("task_group: the first exception leaves wait, and later tasks do not start") {
  test::for_each_runtime("exceptions of tasks", [](fj::runtime& rt, unsigned, auto) {
    rt.run([] {
      fj::task_group g;
      g.run([] { throw std::runtime_error("first"); });
      g.run([] { fj::yield(); });
      CHECK_THROWS_WITH_AS(g.wait(), "first", std::runtime_error);
      bool ran = false;
      g.run([&] { ran = true; });
      CHECK(g.wait() == fj::task_group_status::complete);
      CHECK(ran);
    });
  });
}

TEST_CASE("task_group: stop") {
  test::for_each_procs([](unsigned procs) {
    fj::runtime rt(test::with_procs(procs));
    rt.run([] {
      fj::task_group g;
      auto sleeper = g.go([](fj::stop_token stop) {
        try {
          fj::sleep_for(1h, {.stop = &stop});
        } catch (const fj::cancelled&) {
          return 1;
        }
        return 0;
      });
      g.cancel();
      CHECK(g.stopped());
      bool ran = false;
      g.run([&] { ran = true; });
      CHECK(g.wait() == fj::task_group_status::canceled);
      CHECK(!ran);
      CHECK(sleeper.get() == 1);
      CHECK(!g.stopped());
      CHECK(g.run_and_wait([&] { ran = true; }) == fj::task_group_status::complete);
      CHECK(ran);
      const auto constant = [] {};
      CHECK(g.run_and_wait(constant) == fj::task_group_status::complete);

      fj::stop_source outer;
      fj::task_group inner(outer.get_token());
      outer.request_stop();
      inner.run([] { FAIL("started"); });
      CHECK(inner.wait() == fj::task_group_status::canceled);
      CHECK(inner.run_and_wait([] { FAIL("called"); }) == fj::task_group_status::canceled);
    });
  });
}

// Tried with a count that ends before the fiber has ended: the result of the dropped one is still there.
TEST_CASE("task_group: after the wait every future of the group is ready, and nothing is left of a dropped one") {
  test::for_each_runtime("futures of a group", [](fj::runtime& rt, unsigned, auto) {
    rt.run([] {
      int late = 0, left = 0;
      for (int round = 0; round != test::divided(2000); ++round) {
        const auto result = std::make_shared<int>(7);
        fj::task_group group;
        std::vector<fj::future<int>> all;
        for (int i = 0; i != 6; ++i)
          all.push_back(group.go([i] {
            if (i % 2 != 0) fj::yield();
            return i;
          }));
        static_cast<void>(group.go([result] { return result; }));
        static_cast<void>(group.go([result](fj::stop_token) { return result; }));
        group.wait();
        left += result.use_count() != 1;
        for (const auto& each : all) late += !each.ready();
      }
      CHECK(late == 0);
      CHECK(left == 0);

      struct goes_slowly {
        explicit goes_slowly(std::atomic<bool>& gone) noexcept : gone_(&gone) {}
        goes_slowly(goes_slowly&& other) noexcept : gone_(std::exchange(other.gone_, nullptr)) {}
        ~goes_slowly() {
          if (!gone_) return;
          std::this_thread::sleep_for(5ms);
          *gone_ = true;
        }
        std::atomic<bool>* gone_;
      };
      std::atomic<bool> gone = false;
      fj::task_group group;
      static_cast<void>(group.go([&] { return goes_slowly(gone); }));
      group.wait();
      CHECK(gone);
    });
  });
}

// Tried with a fiber that is counted before its stack is there: the wait does not end.
TEST_CASE("task_group: a fiber that could not start is no task") {
  fj::run([] {
    fj::task_group group;
    CHECK_THROWS_AS(static_cast<void>(group.go({.stack_size = std::size_t{1} << 50}, [] {})), std::invalid_argument);
    CHECK(group.wait({.until = std::chrono::steady_clock::now() + 10s}) == fj::task_group_status::complete);
  });
}

// Tried with the outer token alone looked at when a task starts: no task sees the request.
TEST_CASE("task_group: a request to stop of the outer token reaches tasks that run") {
  test::for_each_procs([](unsigned procs) {
    fj::runtime rt(test::with_procs(procs));
    for (const bool from_outside : {false, true})
      rt.run([&] {
        fj::stop_source outer;
        fj::task_group group(outer.get_token());
        for (int again = 0; again != 2; ++again) {
          auto sleeper =
              group.go([](fj::stop_token stop) { CHECK_THROWS_AS(fj::sleep_for(1h, {.stop = &stop}), fj::cancelled); });
          std::atomic<bool> started = false, seen = false;
          auto starter = fj::go([&] {
            group.run([&](fj::stop_token stop) {
              started = true;
              while (!stop.stop_requested()) fj::yield();
              seen = true;
            });
          });
          while (!started && !group.stopped()) fj::yield();
          if (from_outside) {
            std::thread([&] { outer.request_stop(); }).join();
          } else {
            outer.request_stop();
          }
          CHECK(group.wait() == fj::task_group_status::canceled);
          starter.get();
          sleeper.get();
          if (again == 0) CHECK(seen);
        }
      });
  });
}

TEST_CASE("task_group: a request to stop of the outer token, and the end of the group at once") {
  fj::run([] {
    for (int round = 0; round != test::divided(500); ++round) {
      fj::stop_source source;
      std::thread stops([&] { source.request_stop(); });
      {
        fj::task_group brief(source.get_token());
        brief.go([](fj::stop_token token) { static_cast<void>(token.stop_requested()); }).get();
      }
      stops.join();
    }
  });
}

TEST_CASE("task_group: a destructor asks for a stop, and waits") {
  test::for_each_procs([](unsigned procs) {
    fj::runtime rt(test::with_procs(procs));
    rt.run([] {
      std::atomic<bool> ended = false;
      {
        fj::task_group g;
        static_cast<void>(g.go([&](fj::stop_token stop) {
          while (!stop.stop_requested()) fj::yield();
          ended = true;
        }));
        g.run([] { throw 1; });
      }
      CHECK(ended);
    });
  });
}

TEST_CASE("task_group: single tasks are waited for by their futures") {
  fj::run([] {
    fj::task_group g;
    auto number = g.go([] { return 7; });
    auto error = g.go([]() -> int { throw std::logic_error("mine"); });
    CHECK(number.get() == 7);
    CHECK_THROWS_WITH(error.get(), "mine");
    CHECK(g.wait() == fj::task_group_status::complete);
  });
}

TEST_CASE("task_group: from threads outside, as programs for oneTBB do") {
  fj::task_group g;
  std::atomic<int> n = 0;
  std::array<std::thread, 3> threads;
  for (std::thread& each : threads)
    each = std::thread([&] {
      for (int i = 0; i != 50; ++i) g.run([&] { ++n; });
    });
  for (std::thread& each : threads) each.join();
  g.run([&] { fill(g, n, 3); });
  g.wait();
  CHECK(n == 150 + 40);
  g.run([] { throw std::runtime_error("outside"); });
  CHECK_THROWS_WITH(g.wait(), "outside");
  CHECK(g.run_and_wait([&] { n = 1; }) == fj::task_group_status::complete);
}

TEST_CASE("task_group: a wait is for reservations, too") {
  fj::run([] {
    fj::task_group g;
    std::optional<fj::task_group::reservation> later(g.reserve());
    CHECK_THROWS_AS(g.wait({.until = std::chrono::steady_clock::now() + 1ms}), fj::timed_out);
    bool ran = false;
    g.run([&] { ran = true; });
    later.reset();
    g.wait();
    CHECK(ran);
  });
}

TEST_CASE("task_group: waits have limits") {
  fj::run([] {
    fj::task_group g;
    fj::channel<int> go_on(0);
    auto waits = g.go([&] { go_on.receive(); });
    CHECK_THROWS_AS(g.wait({.until = std::chrono::steady_clock::now() + 1ms}), fj::timed_out);
    go_on.send(1);
    g.wait();
    waits.get();
  });
}

TEST_CASE("task_group: closures of any kind") {
  fj::run([] {
    fj::task_group g;
    g.run([p = std::make_unique<int>(3)] { CHECK(*p == 3); });  // moves alone
    std::array<char, 100'000> large{};
    large[99'999] = 1;
    g.run([large] { CHECK(large[99'999] == 1); });
    struct throws_when_moved {
      throws_when_moved() = default;
      throws_when_moved(const throws_when_moved&) { throw std::runtime_error("copied"); }
      void operator()() const {}
    };
    const throws_when_moved bad;
    CHECK_THROWS_WITH(g.run(bad), "copied");
    try {
      throw std::runtime_error("handled");
    } catch (const std::runtime_error&) {
      g.run([] { CHECK(std::uncaught_exceptions() == 0); });
    }
    g.wait();
  });
}

// Tried without the reservation in run_as_child: the wait is over at once.
TEST_CASE("task_group: a wait is for a task that is too large for a stack of its own, too") {
  struct large {
    std::atomic<bool>* begun;
    std::atomic<bool>* done;
    std::array<char, 5 << 20> more;
    void operator()() const {
      *begun = true;
      fj::sleep_for(std::chrono::milliseconds(50));
      *done = true;
    }
  };
  fj::run([] {
    fj::task_group group;
    std::atomic<bool> begun = false, done = false;
    auto starts = fj::go({.stack_size = 16 << 20}, [&] {
      const auto closure = std::make_unique<large>();
      closure->begun = &begun;
      closure->done = &done;
      group.run(*closure);
    });
    while (!begun) fj::yield();
    group.wait();
    CHECK(done);
    starts.get();
  });
}

namespace {

std::atomic<int> ended_late{0};

// A value of a strand, or its result, whose end uses tasks.
struct ends_with_tasks {
  bool is_one = true;
  fj::task_group group;

  ends_with_tasks() = default;
  ends_with_tasks(ends_with_tasks&& other) noexcept : is_one(std::exchange(other.is_one, false)) {}
  ends_with_tasks& operator=(ends_with_tasks&&) = delete;
  ~ends_with_tasks() {
    if (!is_one) return;
    for (int i = 0; i < 4; ++i) group.run([] { ++ended_late; });
    group.wait();
  }
};

}  // namespace

// Tried without end_rest in fork/job.hpp, that is, with a job that goes on with the counter which it has freed:
// AddressSanitizer reports it.
TEST_CASE("task_group: when a job ends, the end of its values and of its result may use tasks") {
  test::for_each_runtime("tasks at the end of a job", [](fj::runtime& rt, unsigned, test::stealing) {
    for (const bool used_before : {false, true}) {
      ended_late = 0;
      fj::local<ends_with_tasks> mine;
      for (int i = 0; i < 20; ++i) {
        rt.go([&] {
            fj::task_group first;
            if (used_before) first.run([] {});
            first.wait();
            static_cast<void>(mine.get());
          }).get();
        static_cast<void>(rt.go([&] {
          if (used_before) static_cast<void>(mine.get());
          return ends_with_tasks();
        }));
      }
      test::spin_until([&] { return ended_late == 20 * (used_before ? 12 : 8); });
    }
  });
}
