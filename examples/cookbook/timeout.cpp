// A time limit for a function that can be asked to stop: its caller waits so long, asks it, and waits for its end.

#include <chrono>
#include <forkjoin/go.hpp>
#include <iostream>

using namespace std::chrono_literals;

int answer(std::chrono::nanoseconds takes, fj::stop_token stop) {
  fj::sleep_for(takes, {.stop = &stop});  // stands for a wait; a computation polls stop.stop_requested()
  return 42;
}

int answer_within(std::chrono::nanoseconds limit, std::chrono::nanoseconds takes) {
  auto running = fj::go([=](fj::stop_token stop) { return answer(takes, stop); });
  if (!running.wait_for(limit)) running.request_stop();
  return running.get();  // also if it is late: a fiber that goes on alone would use what its caller has left
}

int main() {
  std::cout << answer_within(10s, 1ms) << '\n';
  try {
    std::cout << answer_within(1ms, 1h) << '\n';
  } catch (const fj::cancelled&) {
    std::cout << "too late\n";
  }
}
