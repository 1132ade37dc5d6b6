// A bounded pool of workers: at most four jobs at once, and at most eight wait. The sender waits while there is no
// room. The exception of a job leaves the scope, and no more jobs are sent.

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

  fj::stop_source failed;
  const fj::stop_token stop = failed.get_token();
  fj::with_scope([&](fj::scope& pool) {
    // On every way out, else the workers would wait for ever, and the join for them.
    const std::shared_ptr<void> closer(nullptr, [&](void*) { jobs.close(); });
    for (int w = 0; w < 4; ++w) {
      pool.fork([&] {
        try {
          for (const int job : jobs) work(job);
        } catch (...) {
          failed.request_stop();  // if all workers have failed, none would make room
          throw;
        }
      });
    }
    for (int job = 1; job <= 100 && !stop.stop_requested(); ++job) jobs.send(job, {.stop = &stop});
  });
  std::cout << "sum " << sum << (most <= 4 ? ", never more than four at once\n" : ", too many at once\n");
}
