// Waits that end by the clock: of fibers, in branches of forks, and of threads. Nothing here has a bound on how late
// they are, but the watchdog. The cases that name a file are those of Go's tests, written anew.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "test/support.hpp"

using namespace std::chrono_literals;

namespace {

using steady = std::chrono::steady_clock;

template <class Wait>
bool sleeps_at_least(steady::duration d, Wait wait) {
  const auto begin = steady::now();
  wait();
  return steady::now() - begin >= d;
}

template <class Exception, class Wait>
bool throws(Wait wait) {
  try {
    wait();
  } catch (const Exception&) {
    return true;
  }
  return false;
}

int sum_after_naps(int depth, test::dice dice) {
  if (depth == 0) {
    if (dice.once_in(4)) fj::sleep_for(std::chrono::microseconds(dice.below(300)));
    return 1;
  }
  const test::dice left(dice.next()), right(dice.next());
  const auto [a, b] =
      fj::fork_join([=] { return sum_after_naps(depth - 1, left); }, [=] { return sum_after_naps(depth - 1, right); });
  return a + b;
}

}  // namespace

TEST_CASE("sleep: never shorter than asked, of fibers, callers and threads") {
  test::for_each_runtime("sleep", [](fj::runtime& rt, unsigned, test::stealing) {
    const auto body = [] {
      return sleeps_at_least(3ms, [] { fj::sleep_for(3ms); }) &&
             sleeps_at_least(2ms, [] { fj::sleep_until(steady::now() + 2ms); }) && sleeps_at_least(0ms, [] {
               const auto end = std::chrono::system_clock::now() + 1ms;
               fj::sleep_until(end);
               if (std::chrono::system_clock::now() < end) std::abort();
             });
    };
    CHECK(rt.run(body));
    CHECK(rt.go(body).get());
    CHECK(body());
  });
}

TEST_CASE("sleep: what has passed takes no wait, also with a token that was asked") {
  test::for_each_runtime("passed", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::stop_source source;
    source.request_stop();
    const fj::stop_token asked = source.get_token();
    const auto body = [&] {
      fj::sleep_for(0s);
      fj::sleep_for(-1h, {.stop = &asked});
      fj::sleep_until(steady::time_point::min(), {.stop = &asked});
      fj::sleep_until(std::chrono::system_clock::time_point(), {.stop = &asked});
    };
    rt.run(body);
    body();
    fj::channel<int> c(1);
    const auto waits = [&] { return throws<fj::timed_out>([&] { c.receive({.until = steady::now() - 1s}); }); };
    CHECK(rt.run(waits));
    CHECK(waits());
    c.send(5);
    CHECK(*c.receive({.until = steady::now() - 1s}) == 5);  // nothing to wait for
  });
}

TEST_CASE("sleep: a stop ends it, and no duration is too long") {
  test::for_each_runtime("stop", [](fj::runtime& rt, unsigned, test::stealing) {
    std::vector<fj::future<bool>> all;
    const auto sleeper = [](auto d) {
      return [=](fj::stop_token stop) { return throws<fj::cancelled>([&] { fj::sleep_for(d, {.stop = &stop}); }); };
    };
    all.push_back(rt.go(sleeper(1h)));
    all.push_back(rt.go(sleeper(std::chrono::hours::max())));
    all.push_back(rt.go(sleeper(std::chrono::duration<double>(1e300))));
    all.push_back(rt.go(sleeper(steady::duration::max())));
    fj::yield();
    for (auto& each : all) each.request_stop();
    for (auto& each : all) CHECK(each.get());
    std::jthread outside([&](std::stop_token stop) { CHECK(sleeper(1h)(stop)); });
    outside.request_stop();
  });
}

TEST_CASE("the end of a runtime asks those that sleep, and waits for them") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("end with sleepers", p);
    std::atomic<int> ended{0};
    {
      fj::runtime rt(test::with_procs(p));
      for (int i = 0; i < 20; ++i) {
        static_cast<void>(rt.go([&](fj::stop_token stop) {
          if (throws<fj::cancelled>([&] { fj::sleep_for(1h, {.stop = &stop}); })) ++ended;
        }));
        static_cast<void>(rt.go([&] {
          fj::sleep_for(2ms);
          ++ended;
        }));
      }
    }
    CHECK(ended == 40);
  });
}

TEST_CASE(
    "sleep: ends although other fibers are always ready, and holds none of them up (time/sleep_test.go: "
    "TimerFairness)") {
  // Tried without fire_own in find_work and in attend_timers: with one P the sleeper never woke.
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("fairness", p);
    fj::runtime rt(test::with_procs(p));
    std::atomic<bool> over{false};
    std::vector<fj::future<void>> busy;
    for (unsigned i = 0; i < 2 * p; ++i) {
      busy.push_back(rt.go([&] {
        while (!over) fj::yield();
      }));
      busy.push_back(rt.go([&] {
        while (!over) fj::sleep_for(1ns);
      }));
    }
    rt.go([&] {
        fj::sleep_for(2ms);
        for (int i = 0; i < 100; ++i) fj::yield();
        over = true;
      }).get();
    for (auto& each : busy) each.get();
    CHECK(over);
  });
}

TEST_CASE("sleep: ends although its P computes, if another is idle") {
  test::for_each_procs(
      [](unsigned p) {
        const test::watchdog dog("computing", p);
        fj::runtime rt(test::with_procs(p));
        for (int i = 0; i < test::divided(40); ++i) {
          rt.run([&] {
            std::atomic<bool> begun{false}, over{false};
            auto sleeper = fj::go([&] {
              begun = true;
              fj::sleep_for(1ms);
              over = true;
            });
            while (!begun) fj::yield();
            fj::yield();
            while (!over) {}  // neither forks nor waits
            sleeper.get();
          });
        }
      },
      2);
}

TEST_CASE("sleep: in a branch, while the continuation runs") {
  test::for_each_runtime("branches", [](fj::runtime& rt, unsigned, test::stealing) {
    rt.run([] {
      std::atomic<bool> continued{false};
      fj::fork_join(
          [&] {
            while (!continued) fj::sleep_for(50us);
          },
          [&] { continued = true; });
    });
    for (int i = 0; i < test::divided(20); ++i) {
      const auto seed = static_cast<std::uint64_t>(i);
      CHECK(rt.run([=] { return sum_after_naps(7, test::dice(seed)); }) == 128);
    }
  });
}

TEST_CASE("sleep: 10,000 at once") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("many sleepers", p);
    fj::runtime rt(test::with_procs(p));
    std::atomic<int> early{0}, woken{0};
    std::vector<fj::future<void>> all;
    const int n = test::divided(10'000);
    for (int i = 0; i < n; ++i) {
      all.push_back(rt.go([&, i] {
        if (!sleeps_at_least(std::chrono::microseconds(i), [=] { fj::sleep_for(std::chrono::microseconds(i)); }))
          ++early;
        ++woken;
      }));
    }
    for (auto& each : all) each.get();
    CHECK(early == 0);
    CHECK(woken == n);
  });
}

TEST_CASE("deadlines: each value is received once, whichever of send, receive, time and stop comes first") {
  // A claim outside of the heap's mutex is left to the model timed_wait.
  test::for_each_runtime("deadline races", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::channel<int> c(0);
    std::atomic<long> sent{0}, received{0};
    const int n = test::divided(200);
    const auto deadline = [](test::dice& dice) { return steady::now() + std::chrono::nanoseconds(dice.below(20'000)); };
    const auto sends = [&](unsigned seed) {
      test::dice dice(seed);
      for (int i = 0; i < n; ++i)
        if (!throws<fj::timed_out>([&] { c.send(i, {.until = deadline(dice)}); })) sent += i;
    };
    const auto receives = [&](unsigned seed, const fj::stop_token* stop) {
      test::dice dice(seed);
      for (bool stopped = false; !stopped;) {
        stopped = throws<fj::cancelled>([&] {
          if (throws<fj::timed_out>([&] { received += *c.receive({.until = deadline(dice), .stop = stop}); })) {
            if (stop->stop_requested()) throw fj::cancelled();
          }
        });
      }
    };
    std::vector<fj::future<void>> senders, receivers;
    for (unsigned i = 0; i < 3; ++i) {
      senders.push_back(rt.go([&, i] { sends(i); }));
      receivers.push_back(rt.go([&, i](fj::stop_token stop) { receives(100 + i, &stop); }));
    }
    std::jthread outside([&](std::stop_token stop) { receives(200, &stop); });
    std::thread sends_outside([&] { sends(300); });
    for (auto& each : senders) each.get();
    sends_outside.join();
    for (auto& each : receivers) each.request_stop();
    outside.request_stop();
    for (auto& each : receivers) each.get();
    outside.join();
    CHECK(sent == received);
  });
}

TEST_CASE("deadlines: a waiter that is told of an earlier one waits no longer than that") {
  test::for_each_runtime("changed deadline", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::mutex m;
    fj::condition_variable changed;
    auto deadline = steady::now() + 1h;
    auto waits = rt.go([&] {
      std::unique_lock lock(m);
      while (steady::now() < deadline) static_cast<void>(changed.wait_until(lock, deadline));
    });
    {
      const std::unique_lock lock(m);
      deadline = steady::now() + 1ms;
    }
    changed.notify_one();
    waits.get();
    CHECK(steady::now() >= deadline);
  });
}

TEST_CASE("select: fj::after is chosen at its time, the earliest of several, and not if another case is ready") {
  test::for_each_runtime("after", [](fj::runtime& rt, unsigned, test::stealing) {
    const auto body = [] {
      fj::channel<int> none, empty(0), full(1);
      full.send(3);
      int chosen = 0;
      const auto nothing = [](std::optional<int>) {};
      CHECK(sleeps_at_least(2ms, [&] {
        CHECK(fj::select(fj::on_receive(empty, nothing), fj::after(1h, [] {}), fj::after(2ms, [&] { chosen = 1; }),
                         fj::on_receive(none, nothing)) == 2);
      }));
      CHECK(chosen == 1);
      CHECK(fj::select(fj::after(1h, [] {}), fj::on_receive(full, [&](std::optional<int> v) { chosen = *v; })) == 1);
      CHECK(chosen == 3);
      CHECK(fj::select(fj::after(1h, [] {}), fj::otherwise([&] { chosen = 4; })) == 1);
      CHECK(fj::select(fj::after(0s, [&] { chosen = 5; }), fj::on_receive(empty, nothing)) == 0);
      CHECK(chosen == 5);
      CHECK(throws<fj::timed_out>(
          [&] { fj::select({.until = steady::now() + 1ms}, fj::after(1h, [] {}), fj::on_receive(empty, nothing)); }));
      fj::stop_source source;
      source.request_stop();
      const fj::stop_token asked = source.get_token();
      CHECK(throws<fj::cancelled>([&] { fj::select({.stop = &asked}, fj::after(1h, [] {})); }));
    };
    rt.run(body);
    rt.go(body).get();
    body();
  });
}

TEST_CASE("select: fj::after against a sender") {
  test::for_each_runtime("after against a sender", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::channel<int> c(0);
    const int n = test::divided(200);
    auto sends = rt.go([=] {
      for (int i = 0; i < n; ++i) {
        if (i % 3 == 0) fj::sleep_for(10us);
        c.send(i);
      }
      c.close();
    });
    int next = 0;
    bool in_order = true;
    for (bool open = true; open;) {
      fj::select(fj::after(5us, [] {}), fj::on_receive(c, [&](std::optional<int> v) {
                   open = v.has_value();
                   if (v && *v != next++) in_order = false;
                 }));
    }
    sends.get();
    CHECK(in_order);
    CHECK(next == n);
  });
}
