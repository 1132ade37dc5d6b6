// A bounded pool of workers: at most four jobs at once, and at most eight wait. The sender waits while there is no
// room. A job must not throw: if every worker had ended, the sender would wait for ever.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <iostream>
#include <memory>

int main() {
  const fj::channel<int> jobs(8);
  std::atomic<int> running = 0, most = 0, sum = 0;
  const auto work = [&](int job) {
    const int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {}
    fj::sleep_for(std::chrono::microseconds(100));  // stands for a request to a server
    sum += job;
    --running;
  };

  fj::with_scope([&](fj::scope& pool) {
    // Closes the channel also if something below throws; else the workers would wait for ever, and the join for them.
    const auto close = [](const fj::channel<int>* c) { c->close(); };
    const std::unique_ptr<const fj::channel<int>, decltype(close)> closer(&jobs, close);
    for (int w = 0; w < 4; ++w) {
      pool.fork([&] {
        for (const int job : jobs) work(job);
      });
    }
    for (int job = 1; job <= 100; ++job) jobs.send(job);
  });
  std::cout << "sum " << sum << (most <= 4 ? ", never more than four at once\n" : ", too many at once\n");
}
