// Deadlines and stops of every wait: of fibers and of threads.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "forkjoin/go.hpp"
#include "test/support.hpp"
#include "test/waits.hpp"

using namespace std::chrono_literals;

namespace {

using steady = std::chrono::steady_clock;

/// Whether the wait throws fj::timed_out, and not before its deadline.
template <class Wait>
bool times_out(Wait wait) {
  const auto until = steady::now() + 1ms;
  try {
    wait(fj::wait_options{.until = until});
  } catch (const fj::timed_out&) {
    return steady::now() >= until;
  }
  return false;
}

/// Whether wait(d) is false, and not before that.
template <class Wait>
bool gives_up(Wait wait) {
  const auto begin = steady::now();
  return !wait(1ms) && steady::now() - begin >= 1ms;
}

/// Calls the body as a caller, as a fiber and on this thread.
template <class Body>
void everywhere(const char* what, Body body) {
  test::for_each_runtime(what, [&](fj::runtime& rt, unsigned, test::stealing) {
    rt.run([&] { body(rt); });
    rt.go([&] { body(rt); }).get();
    body(rt);
  });
}

}  // namespace

namespace {

// Nanoseconds since its epoch, of which there are more than 2^63.
struct old_clock {
  using duration = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<old_clock>;
  [[maybe_unused]] static constexpr bool is_steady = false;
  static time_point now() {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return time_point(duration(621'355'968'000'000'000) + std::chrono::duration_cast<duration>(since_1970));
  }
};

}  // namespace

// Tried with a test of the time since the epoch in place of the time ahead (detail/deadline.hpp): it waits for ever.
TEST_CASE("deadlines: of a clock that began in the year 1") {
  everywhere("an old clock", [](fj::runtime&) {
    fj::channel<int> nothing(0);
    CHECK_THROWS_AS(nothing.receive({.until = old_clock::now() + 1ms}), fj::timed_out);
    CHECK_THROWS_AS(nothing.receive({.until = old_clock::now() - 24h}), fj::timed_out);
    fj::sleep_until(old_clock::now() + 1ms);
  });
  CHECK(fj::detail::deadline_at((old_clock::time_point::max)()) == fj::detail::no_deadline);
  CHECK(fj::detail::deadline_at((std::chrono::system_clock::time_point::max)()) == fj::detail::no_deadline);
  // Nanoseconds since 1970 have no place for it. Tried without the look at `exact`: UndefinedBehaviorSanitizer.
  const auto far = fj::detail::deadline_at(std::chrono::sys_days(std::chrono::year(2300) / 1 / 1));
  CHECK(far > fj::detail::now() + std::chrono::hours(24 * 365 * 250));
  CHECK(far < fj::detail::no_deadline);
}

TEST_CASE("deadlines: each way to wait") {
  everywhere("each way to wait", [](fj::runtime& rt) {
    for (const auto make : test::ways_to_wait) {
      const auto way = make();
      CHECK((times_out(way.wait) ? "" : way.call) == "");  // CAPTURE is for code that stays on a thread
      auto waits = rt.go([&] { way.wait({}); });
      way.open();
      waits.get();
      const auto open = make();
      open.open();
      open.wait({.until = steady::now()});  // it need not wait
    }
  });
}

// Tried with a semaphore that takes no notice of a stop: hangs.
TEST_CASE("stops: each way to wait") {
  test::for_each_runtime("each way to wait", [](fj::runtime& rt, unsigned, test::stealing) {
    for (const bool waits_already : {false, true}) {
      for (const auto make : test::ways_to_wait) {
        const auto way = make();
        const auto before = rt.stats().total().suspensions;
        auto stopped = rt.go([&](fj::stop_token stop) {
          try {
            way.wait({.stop = &stop});
          } catch (const fj::cancelled&) {
            return true;
          }
          return false;
        });
        if (waits_already) test::spin_until([&] { return rt.stats().total().suspensions != before; });
        stopped.request_stop();
        CHECK_MESSAGE(stopped.get(), way.call);
        auto waits = rt.go([&] { way.wait({}); });
        way.open();
        waits.get();
      }
    }
  });
}

TEST_CASE("deadlines: mutex") {
  everywhere("mutex", [](fj::runtime& rt) {
    fj::mutex m;
    m.lock();
    CHECK(gives_up([&](auto d) { return m.try_lock_for(d); }));
    CHECK(gives_up([&](auto d) { return m.try_lock_until(steady::now() + d); }));
    {
      const std::unique_lock timed(m, 1ms);
      CHECK(!timed);
    }
    auto waits = rt.go([&] {
      if (!m.try_lock_for(1h)) return false;
      m.unlock();
      return true;
    });
    m.unlock();
    CHECK(waits.get());
    CHECK(m.try_lock_for(-1s));  // free
    m.unlock();
  });
}

TEST_CASE("deadlines: a mutex whose waiters give up is handed to those that do not") {
  test::for_each_runtime("mutex races", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::mutex m;
    long count = 0, got = 0;
    const int n = test::divided(300);
    std::vector<fj::future<void>> all;
    for (unsigned i = 0; i < 6; ++i) {
      all.push_back(rt.go([&, i] {
        test::dice dice(i);
        for (int k = 0; k < n; ++k) {
          if (i == 0) {
            m.lock();
          } else if (!m.try_lock_for(std::chrono::nanoseconds(dice.below(10'000)))) {
            continue;
          }
          ++got;
          const long seen = count;
          if (k % 16 == 0) fj::yield();
          count = seen + 1;
          m.unlock();
        }
      }));
    }
    for (auto& each : all) each.get();
    CHECK(count == got);
    CHECK(count >= n);
    CHECK(m.try_lock());
    m.unlock();
  });
}

TEST_CASE("deadlines: shared_mutex, and a writer that gives up lets readers in") {
  everywhere("shared_mutex", [](fj::runtime& rt) {
    fj::shared_mutex m;
    m.lock();
    CHECK(gives_up([&](auto d) { return m.try_lock_for(d); }));
    CHECK(gives_up([&](auto d) { return m.try_lock_until(steady::now() + d); }));
    CHECK(gives_up([&](auto d) { return m.try_lock_shared_for(d); }));
    CHECK(gives_up([&](auto d) { return m.try_lock_shared_until(steady::now() + d); }));
    m.unlock();
    m.lock_shared();
    auto writer = rt.go([&] { return m.try_lock_for(2ms); });
    auto reader = rt.go([&] {
      m.lock_shared();
      m.unlock_shared();
    });
    CHECK(!writer.get());
    reader.get();
    m.unlock_shared();
    const std::shared_lock timed(m, 1h);
    CHECK(timed);
  });
}

TEST_CASE("deadlines: semaphore, latch, future, channel, sleep") {
  everywhere("the others", [](fj::runtime& rt) {
    fj::semaphore s(0);
    CHECK(gives_up([&](auto d) { return s.try_acquire_for(d); }));
    CHECK(gives_up([&](auto d) { return s.try_acquire_until(steady::now() + d); }));
    s.release();
    CHECK(s.try_acquire_for(1h));

    fj::latch latch(2);
    CHECK(times_out([&](auto options) { latch.arrive_and_wait(1, options); }));
    CHECK(!latch.try_wait());

    fj::channel<int> gate(0);
    auto f = rt.go([=] { return gate.receive().has_value(); });
    CHECK(gives_up([&](auto d) { return f.wait_for(d); }));
    CHECK(gives_up([&](auto d) { return f.wait_until(steady::now() + d); }));
    CHECK(times_out([&](auto options) { f.get(options); }));
    gate.close();
    CHECK(f.wait_for(1h));
    CHECK(f.wait_until(steady::now()));  // it has ended
    CHECK(!f.get());

    fj::channel<int> none;
    CHECK(times_out([&](auto options) { none.receive(options); }));
    CHECK(times_out([&](auto options) { none.send(1, options); }));
    CHECK(times_out([&](auto options) { fj::sleep_for(1h, options); }));
  });
}

TEST_CASE("deadlines: condition_variable") {
  everywhere("condition_variable", [](fj::runtime& rt) {
    fj::mutex m;
    fj::condition_variable changed;
    bool set = false;
    {
      std::unique_lock lock(m);
      CHECK(gives_up([&](auto d) { return changed.wait_for(lock, d) == std::cv_status::no_timeout; }));
      CHECK(
          gives_up([&](auto d) { return changed.wait_until(lock, steady::now() + d) == std::cv_status::no_timeout; }));
      CHECK(gives_up([&](auto d) { return changed.wait_for(lock, d, [&] { return set; }); }));
      CHECK(times_out([&](auto options) { changed.wait(lock, options); }));
      CHECK(lock.owns_lock());
    }
    auto waits = rt.go([&] {
      std::unique_lock lock(m);
      return changed.wait_for(lock, 1h, [&] { return set; });
    });
    {
      const std::unique_lock lock(m);
      set = true;
    }
    changed.notify_all();
    CHECK(waits.get());
  });
}

TEST_CASE("deadlines: once, while another strand does it") {
  everywhere("once", [](fj::runtime& rt) {
    fj::once once;
    fj::channel<int> gate(0), begun(1);
    auto first = rt.go([&] {
      once.call([&] {
        begun.send(1);
        static_cast<void>(gate.receive());
      });
    });
    static_cast<void>(begun.receive());
    CHECK(times_out([&](auto options) { once.call([] {}, options); }));
    gate.close();
    first.get();
    once.call([] { CHECK(false); }, {.until = steady::now()});
  });
}

// Tried with the plain conversions, which overflow: the first three never end, or the last ones end at once.
TEST_CASE("deadlines: times that the steady clock cannot show") {
  using seconds_of_steady = std::chrono::time_point<steady, std::chrono::seconds>;
  everywhere("far", [](fj::runtime&) {
    fj::semaphore none(0), one(0);
    CHECK(!none.try_acquire_until(std::chrono::system_clock::time_point::min()));
    CHECK(!none.try_acquire_until(std::chrono::sys_seconds::min()));
    CHECK(!none.try_acquire_until(seconds_of_steady::min()));
    fj::sleep_until(std::chrono::sys_seconds::min());
    std::thread later([&] {
      std::this_thread::sleep_for(1ms);
      one.release(4);
    });
    CHECK(one.try_acquire_until(std::chrono::sys_seconds::max()));
    CHECK(one.try_acquire_until(std::chrono::system_clock::time_point::max()));
    CHECK(one.try_acquire_until(seconds_of_steady::max()));
    CHECK(one.try_acquire_until(std::chrono::time_point<steady, std::chrono::duration<double>>::max()));
    CHECK_THROWS_AS(fj::sleep_until(std::chrono::sys_seconds::max(), {.until = steady::now() + 1ms}), fj::timed_out);
    later.join();
  });
}

// Each wait of the library, with what is no number, infinite or too large. Tried with a duration that has passed if d
// <= zero, and is too long unless it is below what the clock shows: no number waits for ever.
TEST_CASE("deadlines: durations that are no numbers or not finite") {
  using real = std::chrono::duration<double>;
  using real_time = std::chrono::time_point<steady, real>;
  using real_date = std::chrono::time_point<std::chrono::system_clock, std::chrono::duration<float, std::nano>>;
  constexpr double infinite = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  everywhere("no numbers", [](fj::runtime&) {
    fj::mutex held;
    const std::lock_guard holds(held);
    fj::shared_mutex shared;
    shared.lock();
    fj::semaphore empty(0);
    fj::mutex free;
    std::unique_lock lock(free);
    fj::condition_variable silent;
    fj::channel<int> nothing(0);
    fj::promise<int> late;
    auto future = late.get_future();
    for (const double passed : {none, -infinite, -1e300}) {
      const real d(passed);
      fj::sleep_for(d);
      fj::sleep_until(real_time(d));
      bool chosen = false;
      fj::select(fj::on_receive(nothing, [](std::optional<int>) {}), fj::after(d, [&] { chosen = true; }));
      CHECK(chosen);
      fj::select_list list;
      list.after(d, [] {});
      list.on_receive(nothing, [](std::optional<int>) {});
      CHECK(list.select() == 0);
      CHECK(!held.try_lock_for(d));
      CHECK(!held.try_lock_until(real_time(d)));
      CHECK(!shared.try_lock_for(d));
      CHECK(!shared.try_lock_shared_for(d));
      CHECK(!empty.try_acquire_for(d));
      CHECK(!empty.try_acquire_until(real_date(real_date::duration(static_cast<float>(passed)))));
      CHECK(silent.wait_for(lock, d) == std::cv_status::timeout);
      CHECK(!future.wait_for(d));
      CHECK(!future.wait_until(real_time(d)));
      CHECK_THROWS_AS(nothing.receive({.until = real_time(d)}), fj::timed_out);
      CHECK_THROWS_AS(static_cast<void>(future.get({.until = real_time(d)})), fj::timed_out);
    }
    shared.unlock();
    for (const double endless : {infinite, 1e300}) {
      const real d(endless);
      fj::semaphore soon(0);
      fj::channel<int> sends(4);
      std::thread later([&] {
        std::this_thread::sleep_for(1ms);
        soon.release(3);
        sends.send(1);
      });
      CHECK(soon.try_acquire_for(d));
      CHECK(soon.try_acquire_until(real_time(d)));
      CHECK(soon.try_acquire_until(real_date(real_date::duration(static_cast<float>(infinite)))));
      bool received = false;
      fj::select(fj::on_receive(sends, [&](std::optional<int>) { received = true; }), fj::after(d, [] {}));
      CHECK(received);
      const fj::time_limit soonest(steady::now() + 1ms);
      CHECK_THROWS_AS(fj::sleep_for(d, {.until = soonest}), fj::timed_out);
      CHECK_THROWS_AS(fj::sleep_until(real_time(d), {.until = soonest}), fj::timed_out);
      later.join();
    }
    late.set_value(1);
  });
}
