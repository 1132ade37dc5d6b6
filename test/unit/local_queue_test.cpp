// Fibers that make one another ready on one P: their order, their time slices, and that no P waits while some of them
// do. What Go's YieldProgress, GoroutineParallelism and PingPongHog check, in other words.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "forkjoin/go.hpp"
#include "runtime/base/tuning.hpp"
#include "test/support.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using clock_of_turns = std::chrono::steady_clock;

// Receives, works for `work` and sends, until `over()`. `done`: for how many nanoseconds both fibers of the pair have
// worked.
template <class Over>
void take_turns(fj::channel<bool> turn, nanoseconds work, std::atomic<std::int64_t>& done, Over over) {
  try {
    while (turn.receive()) {
      const auto began = clock_of_turns::now();
      nanoseconds worked{0};
      while (worked < work) worked = clock_of_turns::now() - began;
      done += worked.count();
      if (over()) turn.close();
      turn.send(true);
    }
  } catch (const fj::channel_closed&) {}
}

}  // namespace

// Tried with a yield that puts its fiber where it runs next, and slices that do not end: hangs with P = 1.
TEST_CASE("local queue: a fiber that yields lets others go on") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("yield", p);
    fj::runtime rt(test::with_procs(p));
    std::atomic<bool> set{false};
    rt.go([&] {
        auto other = fj::go([&] { set = true; });
        while (!set) fj::yield();
        other.get();
      }).get();
  });
}

// Tried without the steal of what runs next: hangs.
TEST_CASE("local queue: as many fibers run at once as there are P") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("fibers at once", p);
    fj::runtime rt(test::with_procs(p));
    const unsigned rounds = test::divided(20u);
    for (unsigned again = 0; again < test::divided(10u); ++again) {
      std::atomic<unsigned> turn{0};
      const auto take_turns = [&](unsigned mine) {
        for (unsigned round = 0; round < rounds; ++round) {
          test::spin_until([&] { return turn == round * p + mine; });
          ++turn;
        }
      };
      rt.go([&] {
          std::vector<fj::future<void>> others;
          for (unsigned i = 1; i < p; ++i) others.push_back(fj::go([&, i] { take_turns(i); }));
          take_turns(0);  // so the last of them is what runs next, and its P does not come to it
          for (auto& each : others) each.get();
        }).get();
      CHECK(turn == rounds * p);
    }
  });
}

TEST_CASE("local queue: half of a full ring goes to all workers, and each fiber runs once") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("a full ring", p);
    fj::runtime rt(test::with_procs(p));
    constexpr unsigned count = 5 * fj::detail::tuning::ring_size + 3;
    std::vector<std::atomic<unsigned>> runs(count);
    rt.go([&] {
        std::vector<fj::future<void>> all;
        for (auto& each : runs) all.push_back(fj::go([&each] { ++each; }));
        for (auto& each : all) each.get();
      }).get();
    for (auto& each : runs) CHECK(each == 1);
  });
}

// Two pairs of fibers hand a turn to and fro. A turn of one pair is ten times as long, so if the pairs took turns with
// each other it would have the P ten times as long. Tried so: with a fiber at the end of the ring when it becomes
// ready; and with a slice that does not end: the first pair did all the work. The pairs are compared by time, because a
// sanitizer makes a switch as long as a short turn, and a processor does not count equally fast at all times. Where
// other programs have the processors, the monitor ends single slices late: so the pairs go on until the times are
// alike, or for many slices.
TEST_CASE("local queue: fibers that wake one another share a time slice") {
  const test::watchdog dog("time slices", 1);
  fj::runtime rt(test::with_procs(1));
  std::atomic<std::int64_t> long_turns{0}, short_turns{0};
  const auto alike = [&](double within) {
    const auto one = static_cast<double>(long_turns), other = static_cast<double>(short_turns);
    return one <= within * other && other <= within * one;
  };
  const auto over = [&] {
    const std::int64_t slices = (long_turns + short_turns) / fj::detail::tuning::slice_ns;
    return slices >= (alike(1.5) ? 40 : 1'000);
  };
  rt.go([&] {
      fj::channel<bool> a(0), b(0);
      std::vector<fj::future<void>> all;
      for (int i = 0; i < 2; ++i) all.push_back(fj::go([&] { take_turns(a, 500us, long_turns, over); }));
      for (int i = 0; i < 2; ++i) all.push_back(fj::go([&] { take_turns(b, 50us, short_turns, over); }));
      a.send(true);
      b.send(true);
      for (auto& each : all) each.get();
    }).get();
  if (RUNNING_ON_VALGRIND) return;  // there a switch takes part of a slice
  CAPTURE(long_turns.load());
  CAPTURE(short_turns.load());
  CHECK(alike(2));  // a last turn of each ends after the rest
}

// A caller works for its own job alone, and its strands may wake one another for ever. Tried with a caller that asks
// whether others lack its P only when its own queue is empty: a million rounds, in each of the two.
TEST_CASE("local queue: strands of a caller that wake one another let another job run, with one P") {
  constexpr int most = 1'000'000;
  const test::watchdog dog("another job", 1);
  fj::runtime rt(test::with_procs(1));
  for (const int partners : {1, 2}) {  // two are never both what runs next: one of them is in the ring
    std::atomic<bool> ran{false};
    int rounds = 0;
    rt.run([&] {
      auto other = rt.go([&] { ran = true; });
      fj::channel<int> there[2] = {fj::channel<int>(0), fj::channel<int>(0)};
      fj::channel<int> back[2] = {fj::channel<int>(0), fj::channel<int>(0)};
      const auto answer = [&](int i) {
        while (there[i].receive()) back[i].send(1);
      };
      const auto ask = [&] {
        for (; !ran && rounds != most; ++rounds) {
          for (int i = 0; i != partners; ++i) there[i].send(1);
          for (int i = 0; i != partners; ++i) static_cast<void>(back[i].receive());
        }
        for (auto& one : there) one.close();
      };
      fj::fork_join([&] { answer(0); }, [&] { fj::fork_join([&] { answer(1); }, ask); });
      other.get();
    });
    CAPTURE(partners);
    CHECK(rounds <= 10 * int{fj::detail::tuning::ticks_per_look});
  }
}
