// How a process with fibers of fj::go ends: by an exception that no future waits for, by a stack overflow in such a
// fiber, and with fibers left in the default runtime.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

[[noreturn]] void fail() { throw std::runtime_error("the message of the fiber"); }

// The future is dropped while the fiber runs.
int dropped_first() {
  fj::runtime rt(test::with_procs(2));
  fj::channel<int> gate(0);
  static_cast<void>(rt.go([=] {
    static_cast<void>(gate.receive());
    fail();
  }));
  gate.close();
  return 0;
}

// The future is dropped when the fiber has failed.
int failed_first() {
  fj::runtime rt(test::with_procs(2));
  auto failed = rt.go([] { fail(); });
  failed.wait();
  return 0;
}

int deep(int n) {
  volatile std::byte frame[1024];
  frame[0] = std::byte(n);
  return n == 0 ? 0 : deep(n - 1) + static_cast<int>(frame[0]);
}

int overflow() {
  fj::runtime rt(test::with_procs(1));
  return rt.go([] { return deep(1'000'000); }).get();
}

// Go's programs end so, too.
int left_running() {
  fj::channel<int> never(0);
  for (int i = 0; i < 10; ++i) static_cast<void>(fj::go([=] { static_cast<void>(never.receive()); }));
  return fj::go([] { return 7; }).get();
}

}  // namespace

int main() {
  test::verdict verdict;
  for (const auto& [body, what] :
       {std::pair(&dropped_first, "dropped first"), std::pair(&failed_first, "failed first")}) {
    const test::ending end = test::in_child(body);
    verdict.check(end.signal == SIGABRT, std::string(what) + ": ended with signal " + std::to_string(end.signal));
    verdict.contains(end.said, "left a fiber whose future was dropped", what);
    verdict.contains(end.said, "the message of the fiber", what);
  }
  const test::ending deep_end = test::in_child(&overflow);
  verdict.check(deep_end.signal == SIGABRT, "overflow: ended with signal " + std::to_string(deep_end.signal));
  verdict.contains(deep_end.said, "Raise fj::options::go_stack_size", "overflow");
  const test::ending left_end = test::in_child(&left_running);
  verdict.check(left_end.code == 7, "left running: ended with code " + std::to_string(left_end.code));
  return verdict.exit_code();
}
