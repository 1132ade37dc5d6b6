// A rate limiter: one call each interval, and up to `burst` at once after a pause. It keeps one time alone: when the
// next call may begin. It needs no fiber that refills.

#include <algorithm>
#include <chrono>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <iostream>
#include <mutex>

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

class rate_limiter {
 public:
  rate_limiter(clock_type::duration interval, int burst) : interval_(interval), saved_(interval * (burst - 1)) {}

  void wait(fj::wait_options options = {}) {
    std::unique_lock lock(mutex_);
    const auto mine = std::max(next_, clock_type::now() - saved_);
    next_ = mine + interval_;
    lock.unlock();
    fj::sleep_until(mine, options);
  }

 private:
  const clock_type::duration interval_, saved_;
  fj::mutex mutex_;
  clock_type::time_point next_ = clock_type::now() - saved_;
};

int main() {
  const auto begin = clock_type::now();
  rate_limiter limit(1ms, 5);
  fj::run([&] { fj::fork_each(0, 25, [&](int) { limit.wait(); }); });
  std::cout << (clock_type::now() - begin >= 20ms ? "25 calls, 5 of them at once\n" : "too fast\n");
}
