// A ticker: its times are counted from the first one, so that a late tick does not delay those after it. It ends when
// its fiber is asked to stop.

#include <chrono>
#include <forkjoin/go.hpp>
#include <iostream>

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

int main() {
  const fj::channel<int> ticks(1);
  const auto begin = clock_type::now();
  auto ticker = fj::go([=](fj::stop_token stop) {
    auto next = clock_type::now();
    try {
      for (int n = 1;; ++n) {
        fj::sleep_until(next += 2ms, {.stop = &stop});
        static_cast<void>(ticks.try_send(n));  // a receiver that is late misses ticks, as with Go's
      }
    } catch (const fj::cancelled&) {}
    ticks.close();
  });

  int seen = 0;
  bool early = false;
  for (const int n : ticks) {
    early |= clock_type::now() < begin + 2ms * n;
    if (++seen == 5) ticker.request_stop();
  }
  ticker.get();
  std::cout << (seen >= 5 && !early ? "five ticks, each in its time\n" : "too few, or too early\n");
}
