// The first error wins, in time: it stops the others, and the caller gets it. (A scope alone throws the error of the
// earliest fork, as the serial program would: here, the fj::cancelled of the first branch.)

#include <chrono>
#include <exception>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <functional>
#include <iostream>
#include <stdexcept>

struct error_group {
  fj::stop_source stop = {};
  std::exception_ptr error = {};
  // f(token), whose exception stops the group. Only the first request returns true: one branch writes the error.
  auto operator()(std::function<void(fj::stop_token)> f) {
    return [this, f] {
      try {
        f(stop.get_token());
      } catch (...) {
        if (stop.request_stop()) error = std::current_exception();
      }
    };
  }
};

int main() {
  error_group group;
  fj::with_scope([&](fj::scope& all) {
    const auto waits = [](fj::stop_token stop) { fj::sleep_for(std::chrono::hours(1), {.stop = &stop}); };
    all.fork(group(waits));
    all.fork(group([](fj::stop_token) { throw std::runtime_error("the second source is down"); }));
    all.fork(group(waits));
  });
  try {
    if (group.error) std::rethrow_exception(group.error);
  } catch (const std::runtime_error& error) {
    std::cout << error.what() << '\n';
  }
}
