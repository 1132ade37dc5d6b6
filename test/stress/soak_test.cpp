// Everything at once, for FORKJOIN_TEST_SECONDS (20 unless it is set): forks, loops, exceptions, timers, channels,
// locks, blocking calls, sockets, groups, threads outside, while the number of Ps changes, a flight recorder runs, and
// lost fibers are looked for. All results are right, no fiber is reported lost, and neither memory nor descriptors nor
// threads grow. Tried with 1,000 bytes that each round of forks leaks, with one connection in ten that leaves its
// socket open, and with a fiber that waits for a channel that nobody else has. With a sanitizer memory is what its
// allocator has given out: ThreadSanitizer keeps about 2 KiB itself for each fiber that has ended, half a million.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"
#include "test/sockets.hpp"
#include "test/support.hpp"

extern "C" std::size_t __sanitizer_get_current_allocated_bytes();

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// What the process holds.
struct held {
  std::size_t bytes = 0;
  std::ptrdiff_t descriptors = 0, threads = 0;

  static held now() { return {allocated_or_resident(), entries_of("/proc/self/fd"), entries_of("/proc/self/task")}; }

  /// The least counts: a look for lost fibers takes much memory for a moment.
  void take_least(const held& other) {
    bytes = std::min(bytes, other.bytes);
    descriptors = std::min(descriptors, other.descriptors);
    threads = std::min(threads, other.threads);
  }

 private:
  static std::size_t allocated_or_resident() {
    if constexpr (test::sanitized) {
      return __sanitizer_get_current_allocated_bytes();
    } else {
      std::size_t size = 0, resident = 0;
      std::ifstream("/proc/self/statm") >> size >> resident;
      return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    }
  }

  static std::ptrdiff_t entries_of(const char* folder) {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  }
};

struct activity {
  const char* name;
  void (*once)(test::dice& dice, activity& self);
  std::atomic<std::uint64_t> done{0}, wrong{0};

  void expect(bool right) { wrong += !right; }
};

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

void fork(test::dice&, activity& self) {
  self.expect(fib(16) == 987);
  long in_scope = 0;
  fj::with_scope([&](auto& s) { s.fork([&] { in_scope = fib(10); }); });
  self.expect(in_scope == 55);
  auto [a, b] = fj::fork_join<fj::tasks>([] { return fib(8); }, [] { return fib(9); });
  self.expect(a + b == 55);
}

void loop(test::dice& dice, activity& self) {
  std::vector<unsigned> n(1 + dice.below(20'000));
  fj::parallel_for(std::size_t{0}, n.size(), [&](std::size_t i) { n[i] = static_cast<unsigned>(i * 7919 % 10'007); });
  const auto sum = fj::parallel_reduce(n, std::uint64_t{0}, std::plus<>());
  self.expect(sum == std::accumulate(n.begin(), n.end(), std::uint64_t{0}));
  fj::parallel_sort(n);
  self.expect(std::is_sorted(n.begin(), n.end()));
}

void fail(test::dice& dice, activity& self) {
  const bool first = dice.once_in(2);
  try {
    fj::fork_join(
        [&] {
          fib(6);
          if (first) throw std::runtime_error("first");
        },
        [&] {
          fib(5);
          if (!first) throw std::runtime_error("second");
        });
    self.expect(false);
  } catch (const std::runtime_error& e) {
    self.expect(e.what() == std::string(first ? "first" : "second"));
  }
}

void hurry(test::dice& dice, activity& self) {
  const auto pause = std::chrono::microseconds(100 + dice.below(2000));
  const auto begin = clock::now();
  fj::go({.urgent = true}, [pause] { fj::sleep_for(pause); }).get();
  self.expect(clock::now() - begin >= pause);
}

void pass_on(test::dice& dice, activity& self) {
  const fj::channel<unsigned> values(dice.below(4)), doubled(0);
  auto first = fj::go([values] {
    for (unsigned i = 0; i < 100; ++i) values.send(i);
    values.close();
  });
  auto second = fj::go([values, doubled] {
    for (const unsigned each : values) doubled.send(2 * each);
    doubled.close();
  });
  unsigned sum = 0;
  for (const unsigned each : doubled) sum += each;
  first.get();
  second.get();
  self.expect(sum == 9900);
}

void give_up(test::dice&, activity& self) {
  const fj::channel<int> never(0);
  try {
    static_cast<void>(never.receive({.until = clock::now() + 300us}));
    self.expect(false);
  } catch (const fj::timed_out&) {}
  fj::stop_source stop;
  const fj::stop_token token = stop.get_token();
  auto waits = fj::go([&] {
    try {
      static_cast<void>(never.receive({.stop = &token}));
      return false;
    } catch (const fj::cancelled&) {
      return true;
    }
  });
  stop.request_stop();
  self.expect(waits.get());
}

void lock(test::dice&, activity& self) {
  fj::mutex mutex;
  fj::semaphore two(2);
  unsigned count = 0;
  fj::task_group group;
  for (unsigned i = 0; i < 20; ++i)
    group.run([&] {
      two.acquire();
      {
        const std::scoped_lock held(mutex);
        ++count;
      }
      two.release();
    });
  group.wait();
  self.expect(count == 20);
}

void block(test::dice& dice, activity&) {
  const auto pause = std::chrono::microseconds(dice.below(3000));
  fj::blocking([pause] { std::this_thread::sleep_for(pause); });
}

void connect(test::dice& dice, activity& self) {
  test::listener at;
  const std::size_t size = 1 + dice.below(100'000);
  auto server = fj::go([&] {
    const fj::descriptor client = fj::accept(at.socket);
    std::vector<char> got(size);
    if (test::read_all(client, got.data(), size)) fj::write(client, got.data(), size);
  });
  {
    const fj::descriptor to = at.connect();
    const std::vector<char> sent(size, 'x');
    std::vector<char> back(size);
    fj::write(to, sent.data(), size);
    self.expect(test::read_all(to, back.data(), size) && back == sent);
  }
  server.get();
}

struct soak {
  explicit soak(std::chrono::seconds length) : length_(length) {}

  void run() {
    const test::environment lost("FORKJOIN_LOST", "1"), each("FORKJOIN_LOST_MS", "1000"),
        heap("FORKJOIN_LOST_HEAP", "1024"), long_runs("FORKJOIN_LONG_RUN_MS", "0");
    const std::string record = std::filesystem::temp_directory_path() / ("fj-soak-" + std::to_string(getpid()));
    held early = held::now(), late = early;
    {
      fj::options chosen = test::with_procs(8);
      chosen.flight_recorder = record.c_str();
      fj::runtime rt(chosen);
      const auto begin = clock::now();
      std::vector<fj::future<void>> fibers;
      for (activity& each_one : activities_)
        for (unsigned i = 0; i < 3; ++i)
          fibers.push_back(rt.go([&each_one, i, this] {
            for (test::dice dice(i); !over_; ++each_one.done) each_one.once(dice, each_one);
          }));
      test::dice dice(1);
      for (auto next = begin; clock::now() - begin < length_; next += 50ms) {
        rt.set_procs(1 + dice.below(8));
        std::thread([&] { CHECK(rt.run([] { return fib(12); }) == 144); }).join();
        if (dice.once_in(20)) rt.write_trace(record.c_str());
        if (dice.once_in(40)) CHECK(fj::lost_fibers().fibers.empty());
        const auto passed = clock::now() - begin;
        if (passed < length_ / 2) early = held::now();  // pools grow at first
        if (passed < length_ * 3 / 4) early.take_least(late = held::now());
        late.take_least(held::now());
        std::this_thread::sleep_until(next + 50ms);
      }
      over_ = true;
      for (auto& each_one : fibers) each_one.get();
    }
    std::filesystem::remove(record);
    for (const activity& each_one : activities_) {
      const std::string name = each_one.name;
      CAPTURE(name);
      MESSAGE(name, " ", each_one.done.load());
      CHECK(each_one.done > 0);
      CHECK(each_one.wrong == 0);
    }
    MESSAGE("KiB ", early.bytes / 1024, " then ", late.bytes / 1024, "; descriptors ", early.descriptors, ", ",
            late.descriptors, "; threads ", early.threads, ", ", late.threads);
    CHECK(late.bytes < early.bytes + early.bytes / 20 + (test::sanitized ? 1u << 20 : 16u << 20));
    CHECK(late.descriptors <= early.descriptors + 3);
    CHECK(late.threads <= early.threads + 3);
  }

 private:
  const std::chrono::seconds length_;
  std::atomic<bool> over_{false};
  activity activities_[9] = {{"forks", &fork},   {"loops", &loop},        {"exceptions", &fail},
                             {"urgent", &hurry}, {"pipelines", &pass_on}, {"limits", &give_up},
                             {"locks", &lock},   {"blocking", &block},    {"connections", &connect}};
};

}  // namespace

TEST_CASE("soak: everything at once, and nothing grows") {
  const char* const text = std::getenv("FORKJOIN_TEST_SECONDS");
  const int seconds = text ? std::atoi(text) : 20;
  soak(std::chrono::seconds(std::max(seconds, 4))).run();
}
