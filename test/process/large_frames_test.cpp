// Frames of more than the guard below a stack of fj::go, in a program that is compiled with -fstack-clash-protection:
// each page of a frame is touched in order, so an overflow meets the guard and is told. Tried without that option: the
// frame steps over the guard into the neighbour's stack.

#include <chrono>
#include <string>
#include <vector>

#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

// Touches only its lowest part: what lies above is untouched, as a buffer that is filled in part.
[[gnu::noinline]] int large_frame(int n) {
  char frame[300 << 10];
  volatile char* const lowest = frame;
  for (int i = 0; i < 10'000; ++i) lowest[i] = static_cast<char>(n);
  return lowest[n];
}

// Fibers whose stacks lie beside each other, so that what steps over a guard writes into a stack.
int overflow() {
  fj::runtime rt(test::with_procs(1));
  return rt.run([] {
    fj::channel<int> hold(0);
    std::vector<fj::future<void>> neighbours;
    for (int i = 0; i < 20; ++i) neighbours.push_back(fj::go([=] { static_cast<void>(hold.receive()); }));
    fj::sleep_for(std::chrono::milliseconds(1));
    auto deep = fj::go([] { return large_frame(1); });
    for (int i = 0; i < 20; ++i) neighbours.push_back(fj::go([=] { static_cast<void>(hold.receive()); }));
    const int end = deep.get() + 1;
    hold.close();
    for (auto& each : neighbours) each.get();
    return end;
  });
}

// The remedy: a stack that is as large.
int on_a_large_stack() {
  return fj::go({.stack_size = 1 << 20}, [] { return large_frame(1); }).get();
}

}  // namespace

int main() {
  test::verdict verdict;
  const test::ending over = test::in_child(&overflow);
  verdict.check(over.signal == SIGABRT,
                "ended with signal " + std::to_string(over.signal) + ", code " + std::to_string(over.code));
  verdict.contains(over.said, "forkjoin: stack overflow in fiber ", "a large frame");
  verdict.contains(over.said, "fj::go({.stack_size = bytes}, f)", "a large frame");
  const test::ending large = test::in_child(&on_a_large_stack);
  verdict.check(large.code == 1, "on a large stack: code " + std::to_string(large.code) + ", said " + large.said);
  return verdict.exit_code();
}
