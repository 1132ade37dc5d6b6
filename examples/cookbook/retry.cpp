// Tries again after pauses that double, each longer by a random part, so that many clients do not come back at the same
// time.

#include <chrono>
#include <forkjoin/go.hpp>
#include <iostream>
#include <random>
#include <stdexcept>

using namespace std::chrono_literals;

// What f() returns. Throws what the last attempt threw, and fj::cancelled or fj::timed_out if a pause ended so.
template <class F>
auto with_retries(int attempts, std::chrono::microseconds pause, F f, const fj::wait_options& limits = {}) {
  std::minstd_rand random(std::random_device{}());
  for (;; pause *= 2) {
    try {
      return f();
    } catch (const std::runtime_error&) {
      if (--attempts == 0) throw;
    }
    // After the handler: a fiber that waits inside of one keeps the exception with it.
    fj::sleep_for(pause + pause * (random() % 100) / 100, limits);
  }
}

int main() {
  int calls = 0;
  const auto flaky = [&] { return ++calls < 3 ? throw std::runtime_error("busy") : calls; };
  const fj::wait_options limits{.until = std::chrono::steady_clock::now() + 10s};
  std::cout << "attempt " << fj::run([&] { return with_retries(5, 1ms, flaky, limits); }) << " succeeded\n";
  try {
    with_retries(2, 1ms, []() -> int { throw std::runtime_error("still busy"); });
  } catch (const std::runtime_error& error) {
    std::cout << error.what() << '\n';
  }
}
