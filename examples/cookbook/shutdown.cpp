// A graceful end in three steps: the door closes; what was accepted may end until a deadline; then the rest is asked to
// stop.

#include <atomic>
#include <chrono>
#include <forkjoin/go.hpp>
#include <iostream>
#include <vector>

using namespace std::chrono_literals;

int main() {
  // With sockets: a loop over fj::accept, which listener.close() ends.
  const fj::channel<std::chrono::nanoseconds> requests(100);
  fj::stop_source hurry;
  std::atomic<int> served = 0, stopped = 0;

  std::vector<fj::future<void>> workers;
  for (int w = 0; w < 8; ++w) {
    workers.push_back(fj::go([&, stop = hurry.get_token()] {
      for (const auto takes : requests) {
        try {
          fj::sleep_for(takes, {.stop = &stop});  // stands for the work on a request
          ++served;
        } catch (const fj::cancelled&) {
          ++stopped;
        }
      }
    }));
  }
  for (const auto takes : std::initializer_list<std::chrono::nanoseconds>{0s, 1us, 1h, 2us}) requests.send(takes);

  requests.close();
  const auto deadline = std::chrono::steady_clock::now() + 100ms;
  for (auto& each : workers) each.wait_until(deadline);
  hurry.request_stop();
  for (auto& each : workers) each.get();
  std::cout << served + stopped << " ended, " << (stopped > 0 ? "the longest was asked to\n" : "none was asked to\n");
}
