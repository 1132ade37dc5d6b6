// A watchdog for tests of many strands, of which each may hang for itself.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test/support.hpp"

namespace test {

/// What a strand of a test does.
struct place {
  std::atomic<const char*> where{"begins"};
  std::atomic<std::uint64_t> steps{0};
  std::atomic<bool> ended{false};
};

/// Ends the process, and says where all are that have not ended, if one of them is in the same step for long.
class progress_watchdog {
 public:
  progress_watchdog(const std::deque<place>& all, std::string what)
      : all_(all), what_(std::move(what)), watcher_([this] { watch(); }) {}
  ~progress_watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    ended_.notify_one();
    watcher_.join();
  }
  progress_watchdog(const progress_watchdog&) = delete;
  progress_watchdog& operator=(const progress_watchdog&) = delete;

 private:
  static constexpr int looks = 60;  // a second apart

  void watch() {
    std::vector<std::uint64_t> seen(all_.size());
    std::vector<int> same(all_.size());
    std::unique_lock lock(mutex_);
    const int most = looks * (RUNNING_ON_VALGRIND || test::sanitized ? 10 : 1);
    while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return over_; })) {
      for (std::size_t i = 0; i < all_.size(); ++i) {
        const std::uint64_t steps = all_[i].steps.load();
        same[i] = steps == seen[i] && !all_[i].ended ? same[i] + 1 : 0;
        seen[i] = steps;
        if (same[i] > most) say_where();
      }
    }
  }

  [[noreturn]] void say_where() const {
    std::fprintf(stderr, "waits hang: %s\n", what_.c_str());
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!all_[i].ended)
        std::fprintf(stderr, "  %3zu  step %8llu  %s\n", i, static_cast<unsigned long long>(all_[i].steps.load()),
                     all_[i].where.load());
    std::fflush(stderr);
    std::_Exit(1);
  }

  const std::deque<place>& all_;
  const std::string what_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread watcher_;  // last, because it uses the other members
};

}  // namespace test
