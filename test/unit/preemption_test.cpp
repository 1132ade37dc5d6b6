// Strands that keep their P for long give way to fibers that wait for it: at forks, between the chunks of loops, and
// when they call into the runtime.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <vector>

#include "forkjoin/fork_each.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "forkjoin/parallel_for.hpp"
#include "forkjoin/reduce.hpp"
#include "forkjoin/scope.hpp"
#include "test/support.hpp"

namespace {

template <class Policy>
long tree(int depth) {
  if (depth == 0) return 1;
  auto [a, b] = fj::fork_join<Policy>([=] { return tree<Policy>(depth - 1); }, [=] { return tree<Policy>(depth - 1); });
  return a + b;
}

// Some thousand chances to give way each, or one that lasts for as long.
template <class Policy>
struct forks {
  void operator()() { CHECK(tree<Policy>(10) == 1024); }
};
struct children_of_scopes {
  void operator()() {
    fj::scope s;
    for (int i = 0; i < 1000; ++i) s.fork([] {});
  }
};
struct kept_children {
  void operator()() {
    fj::basic_scope<fj::tasks> s;
    for (int i = 0; i < 1000; ++i) s.fork([] {});
  }
};
struct loop_chunks {
  std::atomic<long> sum{0};  // so that the loop stays
  void operator()() {
    fj::parallel_for(0, 2000, [this](int) { sum.fetch_add(1, std::memory_order_relaxed); });
  }
};
struct one_long_loop {
  const std::atomic<bool>& over;
  long most;
  void operator()() {
    fj::parallel_for(0L, most, [this](long i) {
      if (!over.load(std::memory_order_relaxed)) steps.store(i, std::memory_order_relaxed);
    });
  }
  std::atomic<long> steps{0};
};
struct turns {
  std::vector<int> all = std::vector<int>(1000);
  void operator()() {
    fj::fork_each(all, [](int& i) { ++i; });
  }
};
struct tries_to_receive {
  fj::channel<int> empty{1};
  void operator()() {
    for (int i = 0; i < 1000; ++i) CHECK_FALSE(empty.try_receive());
  }
};
struct locks {
  fj::mutex m;
  void operator()() {
    for (int i = 0; i < 1000; ++i) {
      m.lock();
      m.unlock();
    }
  }
};
struct blocks {
  void operator()() {
    for (int i = 0; i < 1000; ++i) fj::blocking([] {});
  }
};
struct starts_fibers {
  void operator()() {
    for (int i = 0; i < 100; ++i) static_cast<void>(fj::go([] {}));
  }
};

// Far more rounds than fit into ten time slices, so that a strand that never gives way ends all the same.
constexpr long rounds = 100'000;

template <class Round>
void keep_processor(Round& round, const std::atomic<bool>& over) {
  for (long i = 0; i < rounds && !over; ++i) round();
  CHECK(over);
}

// How often another fiber came to run by help of the monitor: a strand in a blocking call loses its P, and does not
// give way.
std::uint64_t requests_met(const fj::runtime& rt) {
  const auto all = rt.stats().total();
  return all.preemptions + all.retakes;
}

}  // namespace

// Tried without requests by the monitor: with forks the strand ends before the other fiber begins.
TEST_CASE_TEMPLATE("preemption: a strand that computes lets a fiber run that is ready, with one P", Round,
                   forks<fj::continuations>, forks<fj::tasks>, forks<test::first_top>, children_of_scopes,
                   kept_children, loop_chunks, turns, tries_to_receive, locks, blocks, starts_fibers) {
  const test::watchdog dog("preemption", 1, 120);
  fj::runtime rt(test::with_procs(1));
  for (const bool in_run : {false, true}) {
    const auto compute = [] {
      std::atomic<bool> over{false};
      auto other = fj::go([&] { over = true; });
      Round round;
      keep_processor(round, over);
      other.get();
    };
    CAPTURE(in_run);
    const std::uint64_t before = requests_met(rt);
    in_run ? rt.run(compute) : rt.go(compute).get();
    CHECK(requests_met(rt) > before);
  }
}

TEST_CASE("preemption: one loop lets a fiber run, with one P") {
  const test::watchdog dog("preemption of one loop", 1, 120);
  fj::runtime rt(test::with_procs(1));
  rt.run([] {
    std::atomic<bool> over{false};
    auto other = fj::go([&] { over = true; });
    one_long_loop loop{over, test::sanitized ? 50'000'000 : 2'000'000'000};
    loop();
    CHECK(over);
    CHECK(loop.steps < loop.most - 1);
    other.get();
  });
}

// With one P no thief sees that a loop has become long. Tried without the look at the clock in begin_loop_slow: fails.
TEST_CASE("preemption: a loop that was very brief lets a fiber run once it takes long, with one P") {
  const test::watchdog dog("preemption of loops that were brief", 1, 120);
  fj::runtime rt(test::with_procs(1));
  rt.run([] {
    std::atomic<bool> is_long{false}, done{false};
    std::atomic<long> turns{0};
    long turns_before = 0;
    bool ran_within = false;
    const auto element = [&](int i) {
      if (!is_long.load(std::memory_order_relaxed)) return;
      if (i == 0) turns_before = turns;
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
      while (std::chrono::steady_clock::now() < end) {}
      if (i == 19) ran_within = turns != turns_before;
    };
    auto other = fj::go([&] {
      for (; !done; fj::yield()) ++turns;
    });
    while (turns == 0) fj::yield();  // from now on the monitor runs
    for (int loop = 0; loop < 1000; ++loop) fj::parallel_for(0, 20, element);
    is_long = true;
    for (int loop = 0; loop < 20 && !ran_within; ++loop) fj::parallel_for(0, 20, element);
    CHECK(ran_within);
    done = true;
    other.get();
  });
}

// Tried with a monitor that fires none: fails, as the strands end before the sleeper goes on.
TEST_CASE("preemption: timers fire while every P computes") {
  for (const unsigned p : {1u, 2u}) {
    const test::watchdog dog("preemption for a timer", p, 120);
    fj::runtime rt(test::with_procs(p));
    std::atomic<bool> over{false};
    auto sleeper = rt.go([&] {
      fj::sleep_for(std::chrono::milliseconds(1));
      over = true;
    });
    std::vector<fj::future<void>> all;
    for (unsigned i = 0; i < p; ++i) {
      all.push_back(rt.go([&] {
        forks<fj::continuations> round;
        keep_processor(round, over);
      }));
    }
    for (auto& each : all) each.get();
    sleeper.get();
  }
}

TEST_CASE("preemption: all P compute, and other jobs begin") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("preemption for jobs", p, 120);
    fj::runtime rt(test::with_procs(p));
    std::atomic<bool> over{false};
    std::atomic<unsigned> computing{0};
    std::vector<fj::future<void>> all;
    for (unsigned i = 0; i < p; ++i) {
      all.push_back(rt.go([&] {
        ++computing;
        forks<fj::continuations> round;
        keep_processor(round, over);
      }));
    }
    test::spin_until([&] { return computing == p; });
    CHECK(rt.run([] { return tree<fj::continuations>(8); }) == 256);
    CHECK(rt.go([] { return tree<fj::tasks>(8); }).get() == 256);
    over = true;
    for (auto& each : all) each.get();
  });
}

namespace {

fj::options chaotic(unsigned procs, std::uint64_t seed) {
  fj::options chosen = test::with_procs(procs);
  chosen.chaos = seed;
  return chosen;
}

template <class Policy>
void walk(unsigned node, int depth, std::vector<unsigned>& trace) {
  trace.push_back(node);
  if (depth == 0) return;
  const auto handled = std::current_exception();
  if (node % 3 == 0) {
    try {
      throw std::runtime_error("handled");
    } catch (const std::runtime_error&) {
      fj::fork_join<Policy>([&] { walk<Policy>(2 * node, depth - 1, trace); },
                            [&] { walk<Policy>(2 * node + 1, depth - 1, trace); });
      CHECK(std::current_exception() != handled);
    }
  } else {
    fj::fork_join<Policy>([&] { walk<Policy>(2 * node, depth - 1, trace); },
                          [&] { walk<Policy>(2 * node + 1, depth - 1, trace); });
  }
  CHECK(std::current_exception() == handled);
  trace.push_back(~node);
}

void walk_serially(bool first_child_first, unsigned node, int depth, std::vector<unsigned>& trace) {
  trace.push_back(node);
  if (depth == 0) return;
  walk_serially(first_child_first, 2 * node + !first_child_first, depth - 1, trace);
  walk_serially(first_child_first, 2 * node + first_child_first, depth - 1, trace);
  trace.push_back(~node);
}

}  // namespace

// Tried with a marker for what gives way, as for what waits: other orders.
TEST_CASE_TEMPLATE("preemption: with one P the order is the serial one, though every strand gives way often", Policy,
                   test::first_leave, test::first_top, test::first_leap, test::last_leave, test::last_top,
                   test::last_leap) {
  for (const auto how : {test::stealing::by_need, test::stealing::all_public, test::stealing::by_signal}) {
    const test::fences fences(how);
    const test::watchdog dog("order of strands that give way", 1);
    for (std::uint64_t seed = 1; seed <= test::divided(10u); ++seed) {
      fj::options chosen = test::with(1, how);
      chosen.chaos = seed;
      fj::runtime rt(chosen);
      std::vector<unsigned> expected;
      walk_serially(test::runs_first_child<Policy>, 1, 7, expected);
      const auto traced = [] {
        std::vector<unsigned> trace;
        walk<Policy>(1, 7, trace);
        return trace;
      };
      std::vector<fj::future<std::vector<unsigned>>> all;
      for (int i = 0; i < 10; ++i) all.push_back(rt.go(traced));
      CHECK(rt.run(traced) == expected);
      for (auto& each : all) CHECK(each.get() == expected);
      CHECK(rt.stats().total().preemptions > 20);
    }
  }
}

TEST_CASE("preemption: strands of every kind that give way often come to the right results") {
  for (const unsigned p : {1u, 2u, 8u, 64u}) {
    const test::watchdog dog("strands that give way", p, 120);
    for (std::uint64_t seed = 1; seed <= test::divided(5u); ++seed) {
      fj::runtime rt(chaotic(p, seed));
      fj::channel<long> values(2);
      const auto of_all_kinds = [&values] {
        long sum = tree<fj::continuations>(6) + tree<fj::tasks>(6) + tree<test::first_leap>(6);
        std::atomic<long> in_loops{0};
        fj::parallel_for(0, 200, [&](int) { ++in_loops; }, {.grain = 3});
        fj::fork_each(std::vector<int>(50), [&](int) { ++in_loops; });
        {
          fj::scope s;
          for (int i = 0; i < 20; ++i)
            s.fork([&] {
              in_loops += tree<fj::continuations>(2);
              if (in_loops % 7 == 0) fj::blocking([] {});
            });
        }
        try {
          fj::fork_join([] { throw std::runtime_error("first"); }, [] { return tree<fj::continuations>(4); });
        } catch (const std::runtime_error&) {
          ++sum;
        }
        values.send(sum + in_loops);
      };
      std::vector<fj::future<void>> all;
      const int fibers = 20;
      for (int i = 0; i < fibers; ++i) all.push_back(rt.go(of_all_kinds));
      long sum = 0;
      for (int i = 0; i < fibers; ++i) sum += *values.receive();
      CHECK(sum == fibers * (3 * 64 + 200 + 50 + 20 * 4 + 1));
      rt.run([&] { fj::fork_join(of_all_kinds, [&] { CHECK(*values.receive() == 3 * 64 + 200 + 50 + 20 * 4 + 1); }); });
      for (auto& each : all) each.get();
      CHECK(rt.stats().total().preemptions > 0);
    }
  }
}
