// Mutexes, conditions, semaphores, wait groups, once: between fibers, and between fibers and threads.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "test/support.hpp"

namespace {

void add_in_tree(int depth, fj::mutex& m, long& count) {
  if (depth == 0) {
    const std::scoped_lock lock(m);
    ++count;
    return;
  }
  fj::fork_join([&] { add_in_tree(depth - 1, m, count); }, [&] { add_in_tree(depth - 1, m, count); });
}

}  // namespace

TEST_CASE("mutex: one holder at a time, among fibers, branches of forks and threads") {
  // Tried with mutex_protocol::try_lock always true: the count was too small.
  test::for_each_runtime("mutex", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::mutex m;
    long count = 0;
    const int each = test::divided(500);
    std::vector<fj::future<void>> fibers;
    for (int i = 0; i < 10; ++i) {
      fibers.push_back(rt.go([&] {
        for (int k = 0; k < each; ++k) {
          const std::unique_lock lock(m);
          const long seen = count;
          if (k % 50 == 0) fj::yield();
          count = seen + 1;
        }
      }));
    }
    std::thread outside([&] {
      for (int k = 0; k < each; ++k) {
        const std::scoped_lock lock(m);
        ++count;
      }
    });
    rt.run([&] { add_in_tree(8, m, count); });
    outside.join();
    for (auto& one : fibers) one.get();
    CHECK(count == 11L * each + 256);
  });
}

TEST_CASE("mutex: try_lock, and a lock that is stopped") {
  test::for_each_runtime("try_lock", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::mutex m;
    CHECK(m.try_lock());
    CHECK(!m.try_lock());
    auto waits = rt.go([&](fj::stop_token stop) {
      try {
        m.lock({.stop = &stop});
      } catch (const fj::cancelled&) {
        return true;
      }
      return false;
    });
    waits.request_stop();
    CHECK(waits.get());
    auto gets_it = rt.go([&] {
      m.lock();
      m.unlock();
    });
    m.unlock();
    gets_it.get();
    CHECK(m.try_lock());
    m.unlock();
  });
}

TEST_CASE("mutex: a waiter gets it although another strand takes it again and again") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("a starving waiter", p);
    fj::runtime rt(test::with_procs(p));
    fj::mutex m;
    std::atomic<bool> over{false}, begun{false};
    auto greedy = rt.go([&] {
      while (!over.load()) {
        const std::scoped_lock lock(m);
        begun = true;
        fj::yield();  // the waiter becomes ready, and finds the mutex locked again
      }
    });
    test::spin_until([&] { return begun.load(); });
    auto modest = rt.go([&] {
      const std::scoped_lock lock(m);
      over = true;
    });
    modest.get();
    greedy.get();
    CHECK(over);
  });
}

TEST_CASE("shared_mutex: readers together, writers alone, and none of them starves") {
  test::for_each_runtime("shared mutex", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::shared_mutex m;
    std::atomic<int> inside{0};
    int a = 0, b = 0;
    std::vector<fj::future<bool>> all;
    const int each = test::divided(200);
    for (int i = 0; i < 8; ++i) {
      all.push_back(rt.go([&, i] {
        bool right = true;
        for (int k = 0; k < each; ++k) {
          if ((i + k) % 4 == 0) {
            const std::unique_lock lock(m);
            if (inside.fetch_add(1000) != 0) right = false;
            ++a;
            if (k % 10 == 0) fj::yield();
            ++b;
            inside.fetch_sub(1000);
          } else {
            const std::shared_lock lock(m);
            if (inside.fetch_add(1) >= 1000 || a != b) right = false;
            if (k % 10 == 0) fj::yield();
            inside.fetch_sub(1);
          }
        }
        return right;
      }));
    }
    for (auto& one : all) CHECK(one.get());
    CHECK(a == 2 * each);

    // A reader that comes after a waiting writer waits; when the writer's wait is stopped, the reader goes on.
    m.lock_shared();
    auto writer = rt.go([&](fj::stop_token stop) {
      try {
        m.lock({.stop = &stop});
      } catch (const fj::cancelled&) {
        return true;
      }
      return false;
    });
    test::spin_until([&] {
      const bool waits = !m.try_lock_shared();
      if (!waits) m.unlock_shared();
      return waits;
    });
    auto reader = rt.go([&] {
      m.lock_shared();
      m.unlock_shared();
    });
    CHECK(!m.try_lock());
    writer.request_stop();
    CHECK(writer.get());
    reader.get();
    m.unlock_shared();
    CHECK(m.try_lock());
    m.unlock();
  });
}

// Tried without the check: the first wait crashes, and the second unlocks for another strand.
TEST_CASE("condition_variable: a lock that holds no mutex is refused") {
  fj::mutex m;
  const std::scoped_lock other(m);
  fj::condition_variable condition;
  std::unique_lock<fj::mutex> none, unlocked(m, std::defer_lock);
  for (std::unique_lock<fj::mutex>* const each : {&none, &unlocked}) {
    const auto refuses = [&](auto wait, const char* call) {
      try {
        wait(*each);
        CHECK(false);
      } catch (const std::system_error& error) {
        CHECK(error.code() == std::errc::operation_not_permitted);
        CHECK_MESSAGE(std::string(error.what()).starts_with(std::string(call) + ": the lock holds no mutex; lock one"),
                      error.what());
      }
    };
    refuses([&](auto& lock) { condition.wait(lock); }, "fj::condition_variable::wait");
    refuses([&](auto& lock) { condition.wait(lock, [] { return false; }); }, "fj::condition_variable::wait");
    refuses([&](auto& lock) { condition.wait_for(lock, std::chrono::milliseconds(1)); },
            "fj::condition_variable::wait_until");
    refuses([&](auto& lock) { condition.wait_for(lock, std::chrono::milliseconds(1), [] { return false; }); },
            "fj::condition_variable::wait_until");
  }
  CHECK(!m.try_lock());
}

TEST_CASE("condition_variable: a bounded buffer, and a wait that is stopped") {
  test::for_each_runtime("condition variable", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::mutex m;
    fj::condition_variable changed;
    std::vector<int> buffer;
    bool over = false;
    const int n = test::divided(500);
    std::vector<fj::future<int>> consumers;
    for (int i = 0; i < 3; ++i) {
      consumers.push_back(rt.go([&] {
        int sum = 0;
        for (;;) {
          std::unique_lock lock(m);
          changed.wait(lock, [&] { return !buffer.empty() || over; });
          if (buffer.empty()) return sum;
          sum += buffer.back();
          buffer.pop_back();
          changed.notify_all();
        }
      }));
    }
    auto producer = rt.go([&] {
      for (int i = 1; i <= n; ++i) {
        std::unique_lock lock(m);
        changed.wait(lock, [&] { return buffer.size() < 4; });
        buffer.push_back(i);
        lock.unlock();
        changed.notify_one();
        // A producer may have been notified in the place of a consumer.
        changed.notify_all();
      }
      const std::scoped_lock lock(m);
      over = true;
      changed.notify_all();
    });
    producer.get();
    int sum = 0;
    for (auto& each : consumers) sum += each.get();
    CHECK(sum == n * (n + 1) / 2);

    auto stopped = rt.go([&](fj::stop_token stop) {
      std::unique_lock lock(m);
      try {
        changed.wait(lock, [] { return false; }, {.stop = &stop});
      } catch (const fj::cancelled&) {
        return lock.owns_lock();
      }
      return false;
    });
    stopped.request_stop();
    CHECK(stopped.get());
    CHECK(m.try_lock());
    m.unlock();
  });
}

TEST_CASE("semaphore: a negative number of permits is refused") {
  fj::semaphore permits(1);
  CHECK_THROWS_WITH_AS(permits.release(-2), doctest::Contains("fj::semaphore::release: -2 permits; give 0 or more"),
                       std::invalid_argument);
  CHECK_THROWS_AS(fj::semaphore(-1), std::invalid_argument);
  CHECK(permits.try_acquire());
  CHECK(!permits.try_acquire());
  permits.release(std::int64_t{1});
  permits.release(std::size_t{1});
  permits.release();
  for (int i = 0; i < 3; ++i) CHECK(permits.try_acquire());
  CHECK(!permits.try_acquire());
}

TEST_CASE("semaphore: at most so many at a time, first in, first out") {
  test::for_each_runtime("semaphore", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::semaphore permits(3);
    std::atomic<int> inside{0}, most{0};
    std::vector<fj::future<void>> all;
    for (int i = 0; i < 20; ++i) {
      all.push_back(rt.go([&] {
        for (int k = 0; k < test::divided(50); ++k) {
          permits.acquire();
          const int now = ++inside;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {}
          if (k % 5 == 0) fj::yield();
          --inside;
          permits.release();
        }
      }));
    }
    for (auto& each : all) each.get();
    CHECK(most <= 3);
    for (int i = 0; i < 3; ++i) CHECK(permits.try_acquire());
    CHECK(!permits.try_acquire());
    permits.release(2);
    CHECK(permits.try_acquire());
    CHECK(permits.try_acquire());
    CHECK(!permits.try_acquire());
    for (int i = 0; i < 2; ++i) permits.release(std::numeric_limits<std::uint64_t>::max());
    CHECK(permits.try_acquire());
    permits.release(2);  // tried with a sum that wraps: none is left
    CHECK(permits.try_acquire());
  });
}

TEST_CASE("wait_group: waits for all, can be used again, and refuses a negative count") {
  test::for_each_runtime("wait group", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::wait_group group;
    for (int round = 0; round < 5; ++round) {
      std::atomic<int> done{0};
      group.add(10);
      for (int i = 0; i < 10; ++i) {
        static_cast<void>(rt.go([&] {
          fj::yield();
          ++done;
          group.done();
        }));
      }
      auto also = rt.go([&] {
        group.wait();
        return done.load();
      });
      group.wait();
      CHECK(done == 10);
      CHECK(also.get() == 10);
    }
    CHECK_THROWS_WITH_AS(group.done(),
                         "fj::wait_group::done: a change of -1 would make the count negative; call add before done",
                         std::logic_error);
    CHECK_THROWS_WITH_AS(group.add(-7), doctest::Contains("fj::wait_group::add: a change of -7 would"),
                         std::logic_error);
    group.wait();
    group.add(std::numeric_limits<std::int64_t>::max());
    // Tried with a sum that wraps: a count of 0, or less.
    CHECK_THROWS_WITH_AS(group.add(),
                         "fj::wait_group::add: a change of 1 would make the count exceed 2^63 - 1; call done for what "
                         "has ended",
                         std::logic_error);
    group.add(-std::numeric_limits<std::int64_t>::max());
    group.wait();
  });
}

TEST_CASE("latch: waits for all, and refuses what nobody expects") {
  test::for_each_runtime("latch", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::latch all(11);
    std::atomic<int> arrived{0};
    std::vector<fj::future<int>> fibers;
    for (int i = 0; i < 10; ++i)
      fibers.push_back(rt.go([&] {
        ++arrived;
        all.arrive_and_wait();
        return arrived.load();
      }));
    CHECK(!all.try_wait());
    all.arrive_and_wait();
    CHECK(all.try_wait());
    CHECK(arrived == 10);
    for (auto& each : fibers) CHECK(each.get() == 10);
    all.wait();
    CHECK_THROWS_AS(all.count_down(), std::logic_error);
    CHECK_THROWS_WITH_AS(all.count_down(-1), doctest::Contains("fj::latch::count_down: n is -1; it must be 0 or more"),
                         std::logic_error);
    CHECK_THROWS_WITH_AS(all.arrive_and_wait(2), doctest::Contains("fj::latch::arrive_and_wait: n is 2; it must"),
                         std::logic_error);
    CHECK_THROWS_AS(fj::latch(-1), std::invalid_argument);
    all.count_down(0);
  });
}

// Tried without a new count in the next phase, with a completion after the others go on, and with a wait for the first
// phase alone.
TEST_CASE("barrier: nobody begins a phase before all have ended the one before, and its completion") {
  test::for_each_runtime("barrier", [](fj::runtime& rt, unsigned, test::stealing) {
    constexpr int parties = 7, phases = 20;
    int completed = 0;  // by one strand at a time
    std::atomic<int> arrived{0}, wrong{0};
    fj::barrier all(parties, [&] {
      fj::yield();
      wrong += arrived.load() != (completed + 1) * parties;
      ++completed;
    });
    std::vector<fj::future<void>> fibers;
    for (int i = 0; i < parties; ++i)
      fibers.push_back(rt.go([&, i] {
        for (int phase = 0; phase < phases; ++phase) {
          if ((phase + i) % 3 == 0) fj::yield();
          ++arrived;
          if (i % 2) {
            all.arrive_and_wait();
          } else {
            all.wait(all.arrive());
          }
          wrong += completed < phase + 1;
        }
      }));
    for (auto& each : fibers) each.get();
    CHECK(completed == phases);
    CHECK(wrong == 0);
  });
}

// Tried without the drop, and without a next phase after an exception.
TEST_CASE("barrier: parties that drop, a completion that throws, and what nobody expects") {
  test::for_each_runtime("barrier", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::barrier two(2);
    auto drops = rt.go([&] { two.arrive_and_drop(); });
    two.arrive_and_wait();
    drops.get();
    two.arrive_and_wait();  // alone
    CHECK_THROWS_WITH_AS(
        static_cast<void>(two.arrive(2)),
        "fj::barrier::arrive: the number of arrivals is 2; it must be 1 or more, and not more than are "
        "still expected in this phase",
        std::logic_error);
    CHECK_THROWS_AS(static_cast<void>(two.arrive(0)), std::logic_error);
    CHECK_THROWS_AS(fj::barrier(-1), std::invalid_argument);
    two.arrive_and_drop();
    CHECK_THROWS_WITH_AS(two.arrive_and_wait(), doctest::Contains("fj::barrier::arrive_and_wait: the number"),
                         std::logic_error);
    CHECK_THROWS_WITH_AS(two.arrive_and_drop(), doctest::Contains("fj::barrier::arrive_and_drop: the number"),
                         std::logic_error);

    int calls = 0;
    fj::barrier throws(2, [&] {
      if (++calls == 1) throw std::runtime_error("completion");
    });
    std::atomic<int> caught{0};
    const auto meet = [&] {
      try {
        throws.arrive_and_wait();
      } catch (const std::runtime_error&) {
        ++caught;
      }
      throws.arrive_and_wait();
    };
    auto other = rt.go(meet);
    meet();
    other.get();
    CHECK(caught == 1);
    CHECK(calls == 2);
  });
}

TEST_CASE("once: one call returns, others wait for it; after an exception the next one calls") {
  test::for_each_runtime("once", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::once first;
    std::atomic<int> calls{0};
    int value = 0;
    std::vector<fj::future<int>> all;
    for (int i = 0; i < 10; ++i) {
      all.push_back(rt.go([&] {
        for (;;) {
          try {
            first.call([&] {
              fj::yield();
              if (++calls < 3) throw std::runtime_error("not yet");
              value = 5;
            });
            return value;
          } catch (const std::runtime_error&) {}
        }
      }));
    }
    for (auto& each : all) CHECK(each.get() == 5);
    CHECK(calls == 3);
  });
}

TEST_CASE("local: each fiber has a value, all its branches see it, and it is destroyed when the fiber ends") {
  test::for_each_runtime("local", [](fj::runtime& rt, unsigned, test::stealing) {
    static std::atomic<int> alive{0};
    struct counted {
      counted() { ++alive; }
      ~counted() { --alive; }
      counted(const counted&) = delete;
      counted& operator=(const counted&) = delete;
      std::atomic<int> n{0};
    };
    {
      fj::local<counted> mine;
      std::vector<fj::future<int>> all;
      for (int i = 0; i < 10; ++i) {
        all.push_back(rt.go([&] {
          fj::fork_join([&] { ++mine->n; }, [&] { ++mine->n; }, [&] { ++mine->n; });
          fj::yield();
          return mine->n.load();
        }));
      }
      for (auto& each : all) CHECK(each.get() == 3);
      CHECK(alive == 0);  // tried without destroy_locals in first_frame
      CHECK(rt.run([&] { return ++mine->n; }) == 1);
      CHECK(alive == 0);
      // Of a result that nobody takes. Tried without destroy_locals in ~job_of_go.
      struct counts_at_end {
        fj::local<counted>* where;
        std::atomic<int>* ended;
        explicit counts_at_end(fj::local<counted>& l, std::atomic<int>& n) : where(&l), ended(&n) {}
        counts_at_end(counts_at_end&& other) noexcept
            : where(std::exchange(other.where, nullptr)), ended(other.ended) {}
        ~counts_at_end() {
          if (!where) return;
          ++where->get().n;
          ++*ended;
        }
      };
      std::atomic<int> ended{0};
      std::atomic<bool> dropped{false};  // each fiber is the last owner of its result
      for (int i = 0; i < 10; ++i)
        static_cast<void>(rt.go([&] {
          while (!dropped) fj::yield();
          return counts_at_end(mine, ended);
        }));
      dropped = true;
      test::spin_until([&] { return ended == 10 && alive == 0; });
      std::thread outside([&] { CHECK(++mine->n == 1); });
      outside.join();
      CHECK(alive == 0);
      // A value that a thread's destructors make is destroyed, too. Tried with a thread_local object for the list.
      struct asks_at_end {
        fj::local<counted>* where = nullptr;
        ~asks_at_end() {
          if (where) ++(*where)->n;
        }
      };
      std::thread ends([&] {
        thread_local asks_at_end first, last;
        first.where = &mine;
        ++mine->n;
        last.where = &mine;
      });
      ends.join();
      CHECK(alive == 0);
    }
    fj::local<int> chosen([] { return 9; });
    CHECK(rt.go([&] { return ++*chosen; }).get() == 10);
    CHECK(rt.go([&] { return ++*chosen; }).get() == 10);
  });
}
