// How many P are in use: what set_procs says, while strands of all kinds run, and what the system allows.
//
// Tried with these mistakes, each alone:
//   the worker forgets the fiber that it was about to run (loop.hpp: retire)          "under load" hangs
//   the worker keeps its P (loop.hpp: execute does not ask has_surplus)               "no more strands run …" fails
//   a P that is to retire becomes idle (parking.hpp: put_processor)                   "no more strands run …" hangs
//   P that come back wake no worker (dispatcher.hpp: use)                             "work that is there" hangs
//   the monitor does not ask for surplus P (time_slices.hpp: waits_for)               "a tree of forks" hangs
//   the run queue stays on the P (dispatcher.hpp: give_up)                            "a tree of forks" hangs
// Not noticed here, as the next look of a worker mends it: a surplus P that is given to a sleeping worker (give_up),
// and a search that goes on (find.hpp: waits).
#include <doctest/doctest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/go.hpp"
#include "runtime/os/topology.hpp"
#include "test/forks.hpp"
#include "test/support.hpp"

namespace {

using namespace std::chrono_literals;

/// How many strands are in such a section at once.
class crowd {
 public:
  /// So long, without a point at which the strand could leave its P. Whether others were there.
  bool spend(std::chrono::microseconds time) {
    const int now = inside_.fetch_add(1) + 1;
    for (int most = most_.load(); most < now && !most_.compare_exchange_weak(most, now);) {}
    const auto end = std::chrono::steady_clock::now() + time;
    bool alone = now == 1;
    while (std::chrono::steady_clock::now() < end) alone = alone && inside_.load() == 1;
    inside_.fetch_sub(1);
    return !alone;
  }
  int most() const { return most_.load(); }

 private:
  std::atomic<int> inside_{0}, most_{0};
};

long sum_of_tree(crowd& all, int depth) {
  if (depth == 0) return all.spend(20us), 1;
  const auto [a, b] = fj::fork_join([&, depth] { return sum_of_tree(all, depth - 1); },
                                    [&, depth] { return sum_of_tree(all, depth - 1); });
  return a + b;
}

std::string complaint(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

long fib(int n) { return test::fib(fj::continuations(), n); }

// Of each kind of work some, with a result that is known.

void talk() {
  fj::channel<int> there(0), back(2);
  auto echo = fj::go([=] {
    for (const int v : there) back.send(v + 1);
    back.close();
  });
  long sum = 0;
  for (int i = 0; i < 50; ++i) {
    there.send(i);
    sum += *back.receive();
  }
  there.close();
  echo.get();
  CHECK(sum == 50 * 51 / 2);
}

void block() {
  std::atomic<int> ended{0};
  std::vector<fj::future<void>> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(fj::go([&, i] {
      fj::blocking([&] { std::this_thread::sleep_for(100us * i); });
      fj::blocking_now([&] { std::this_thread::yield(); });
      ++ended;
    }));
  for (auto& each : all) each.get();
  CHECK(ended == 4);
}

void nap() {
  std::vector<fj::future<void>> all;
  for (int i = 0; i < 10; ++i) all.push_back(fj::go([i] { fj::sleep_for(100us * i); }));
  for (auto& each : all) each.get();
}

void loop() {
  std::vector<int> v(10'000, 1);
  fj::parallel_for(std::size_t{0}, v.size(), [&](std::size_t i) { v[i] += static_cast<int>(i % 3); });
  CHECK(fj::parallel_reduce(v.begin(), v.end(), 0L, std::plus<>()) == 10'000 + 9'999);
}

void many_fibers() {
  fj::mutex guard;
  int count = 0;
  std::vector<fj::future<void>> all;
  for (int i = 0; i < 300; ++i)  // more than a ring holds
    all.push_back(fj::go([&] {
      const std::scoped_lock lock(guard);
      ++count;
    }));
  for (auto& each : all) each.get();
  CHECK(count == 300);
}

}  // namespace

TEST_CASE("set_procs: more than there are is refused, in words") {
  fj::runtime rt(test::with_procs(3));
  CHECK(rt.procs() == 3);
  CHECK(rt.procs_in_use() == 3);
  const std::string message = complaint([&] { rt.set_procs(4); });
  CHECK(contains(message, "fj::runtime::set_procs: 4 is more than the 3 P"));
  CHECK(contains(message, "fj::options::procs"));
  CHECK(contains(message, "at most 3"));
  CHECK(rt.procs_in_use() == 3);
  for (const unsigned n : {1u, 2u, 3u, 3u, 1u}) {
    rt.set_procs(n);
    CHECK(rt.procs_in_use() == n);
    CHECK(rt.stats().procs_in_use == n);
    CHECK(rt.procs() == 3);
    CHECK(rt.stats().procs.size() == 3);
  }
  rt.run([&] {
    fj::this_runtime().set_procs(2);
    CHECK(fj::this_runtime().procs_in_use() == 2);
    CHECK(fj::procs() == 3);
  });
  rt.set_procs(0);
  CHECK(rt.procs_in_use() == std::min(3u, fj::detail::os::available_cpus()));
}

TEST_CASE("set_procs: no more strands run at once") {
  test::for_each_runtime("set_procs", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    // While no strand runs, the workers that look for work yet give up their P before they run anything.
    for (unsigned n = p; n > 0; n = n > 8 ? n / 4 : n - 1) {
      CAPTURE(n);
      rt.set_procs(n);
      crowd all;
      const int depth = test::divisor() > 1 ? 6 : 8;
      CHECK(rt.run([&] { return sum_of_tree(all, depth); }) == 1L << depth);
      std::vector<fj::future<void>> fibers;
      for (int i = 0; i < 100; ++i) fibers.push_back(rt.go([&] { all.spend(20us); }));
      for (auto& each : fibers) each.get();
      CHECK(all.most() <= static_cast<int>(n));
    }
    rt.set_procs(p);
    CHECK(rt.run([] { return fib(12); }) == 144);
  });
}

TEST_CASE("set_procs: the counters of P tell how many ran") {
  fj::runtime rt(test::with_procs(4));
  const test::watchdog dog("counters", 4);
  rt.set_procs(1);
  const auto busy = [&] {
    std::vector<std::uint64_t> times;
    for (const auto& p : rt.stats().procs) times.push_back(p.busy_ns);
    return times;
  };
  const auto before = busy();
  crowd all;
  rt.run([&] { return sum_of_tree(all, 8); });
  const auto after = busy();
  int ran = 0;
  for (std::size_t i = 0; i < before.size(); ++i) ran += after[i] != before[i];
  CHECK(ran == 1);
}

TEST_CASE("set_procs: a tree of forks that runs on two P goes on on one") {
  test::for_each_procs(
      [](unsigned p) {
        fj::runtime rt(test::with_procs(p));
        const test::watchdog dog("a tree of forks", p);
        crowd all;
        std::atomic<int> alone{0};  // times in a row, of all strands
        std::atomic<bool> over{false};
        // None of these strands ends or waits. Each comes to a fork again and again.
        const auto work = [&] {
          while (!over)
            fj::fork_join(
                [&] {
                  if (all.spend(20us)) {
                    alone = 0;
                  } else if (++alone > 2'000) {
                    over = true;
                  }
                },
                [] {});
        };
        std::thread shrinks([&] {
          while (all.most() < 2) std::this_thread::yield();
          rt.set_procs(1);
        });
        rt.run([&] { fj::fork_join(work, work, work); });
        shrinks.join();
        rt.set_procs(p);
        CHECK(rt.run([] { return fib(15); }) == 610);
      },
      2);
}

TEST_CASE("set_procs: work that is there runs on P that come back") {
  test::for_each_runtime(
      "P that come back",
      [](fj::runtime& rt, unsigned p, test::stealing how) {
        CAPTURE(test::name_of(how));
        for (int round = 0; round < test::divided(20); ++round) {
          rt.set_procs(1);
          std::atomic<bool> forked{false}, other{false};
          std::thread grows([&] {
            while (!forked) std::this_thread::yield();
            if (round % 2 == 0) std::this_thread::sleep_for(1ms);  // then the other workers sleep, most often
            rt.set_procs(p);
          });
          // The first branch does not end, nor fork, before the second one runs.
          if (how != test::stealing::every_fork) {
            rt.run([&] {
              fj::fork_join(
                  [&] {
                    forked = true;
                    while (!other) std::this_thread::yield();
                  },
                  [&] { other = true; });
            });
          } else {
            rt.run([&] {
              auto second = fj::go([&] { other = true; });
              forked = true;
              while (!other) std::this_thread::yield();
              second.get();
            });
          }
          grows.join();
        }
      },
      2);
}

TEST_CASE("set_procs: a blocking call on the last P loses it, and a monitor rests only when all are idle") {
  test::for_each_procs(
      [](unsigned p) {
        const test::watchdog dog("a monitor rests", p);
        fj::runtime rt(test::with_procs(p));
        rt.go([] { fj::blocking([] { std::this_thread::sleep_for(1ms); }); }).get();
        for (unsigned n = p; n > 0; n /= 2) {
          rt.set_procs(n);
          std::atomic<bool> over{false};
          std::vector<fj::future<void>> blocked;
          // Once it blocks the monitor has nothing to do for some time.
          for (unsigned i = 0; i < n; ++i)
            blocked.push_back(rt.go([&] {
              fj::blocking([&] {
                while (!over) std::this_thread::sleep_for(1ms);
              });
            }));
          std::this_thread::sleep_for(5ms);
          rt.go([&] { over = true; }).get();
          for (auto& each : blocked) each.get();
        }
      },
      2);
}

TEST_CASE("set_procs: under load, from outside and from inside") {
  for (const test::stealing how :
       {test::stealing::by_need, test::stealing::every_fork, test::stealing::all_public, test::stealing::by_signal}) {
    CAPTURE(test::name_of(how));
    const test::fences fences(how);
    test::for_each_procs([&](unsigned p) {
      CAPTURE(p);
      const test::watchdog dog("set_procs under load", p, 120);
      fj::runtime rt(test::with(p, how));
      std::atomic<bool> over{false};
      std::thread resizes([&] {
        std::mt19937 dice(p);
        while (!over) {
          rt.set_procs(1 + static_cast<unsigned>(dice()) % p);
          if (const auto pause = dice() % 3; pause != 0) std::this_thread::sleep_for(200us * pause);
        }
      });
      const int rounds = test::divided(how == test::stealing::by_need ? 20 : 5);
      const auto bring = [&] {
        for (int i = 0; i < rounds; ++i) {
          CHECK(rt.run([] { return fib(13); }) == 233);
          rt.run(&loop);
          rt.run(&talk);
        }
      };
      std::thread one(bring), two(bring);
      rt.run([&] {
        for (int i = 0; i < rounds; ++i) {
          auto tree = fj::go([] { return test::fib(fj::tasks(), 15); });
          auto on_top = fj::go([] { return test::fib(test::first_leap(), 13); });
          auto blocks = fj::go(&block);
          auto naps = fj::go(&nap);
          auto talks = fj::go(&talk);
          many_fibers();
          fj::this_runtime().set_procs(1 + static_cast<unsigned>(i) % p);
          fj::fork_join(&loop, &talk, [] { CHECK(fib(14) == 377); }, &nap);
          CHECK(tree.get() == 610);
          CHECK(on_top.get() == 233);
          blocks.get();
          naps.get();
          talks.get();
        }
      });
      one.join();
      two.join();
      over = true;
      resizes.join();
      rt.set_procs(p);
      CHECK(rt.run([] { return fib(12); }) == 144);
    });
  }
}

TEST_CASE("set_procs: in a runtime that ends, and with timers on P that retired") {
  for (int i = 0; i < test::divided(50); ++i) {
    fj::runtime rt(test::with_procs(3));
    std::vector<fj::future<void>> all;
    for (int k = 0; k < 6; ++k) all.push_back(rt.go([k] { fj::sleep_for(200us * k); }));
    rt.set_procs(1 + static_cast<unsigned>(i) % 3);
    if (i % 2 == 0)
      for (auto& each : all) each.get();
  }
}

// The masks of all threads change, as by `taskset -a`.
TEST_CASE("the P in use follow the affinity mask, unless the program says how many") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  if (CPU_COUNT(&before) < 2 || fj::detail::os::available_cpus() < 2) return;
  const test::watchdog dog("affinity", 2);
  const test::environment unset("FORKJOIN_PROCS", nullptr);
  cpu_set_t first;
  CPU_ZERO(&first);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++i)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &first);
  const auto set_all = [](const cpu_set_t& mask) {
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task"))
      sched_setaffinity(std::stoi(each.path().filename()), sizeof(mask), &mask);
  };
  fj::runtime rt;
  const unsigned all = rt.procs();
  // While strands run: the monitor rests if there are none. A thread that is woken gets another mask for a moment, so
  // not all at once.
  const auto changes_to = [&](const cpu_set_t& mask, unsigned n) {
    rt.go([&] {
        while (rt.procs_in_use() != n) {
          set_all(mask);
          fj::yield();
        }
      }).get();
  };
  rt.run([] { fj::sleep_for(1100ms); });  // the monitor has looked at its own mask
  rt.go([&, end = std::chrono::steady_clock::now() + 1100ms] {
      while (std::chrono::steady_clock::now() < end) fj::yield();
    }).get();
  CHECK(rt.procs_in_use() == all);
  changes_to(first, 1);
  changes_to(before, all);
  rt.set_procs(1);
  rt.go([&, end = std::chrono::steady_clock::now() + 1200ms] {
      while (std::chrono::steady_clock::now() < end) fj::yield();
    }).get();
  CHECK(rt.procs_in_use() == 1);
  set_all(before);
}
