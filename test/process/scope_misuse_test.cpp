// A scope that is destroyed where it cannot be joined: the program says so and aborts. Without the check the children
// resume a strand that does not wait.

#include <memory>

#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

// Destroyed by a strand that is not its own, while one of its children has not ended.
int destroyed_elsewhere() {
  fj::runtime rt(test::with_procs(2));
  std::unique_ptr<fj::scope> s;
  std::atomic<bool> over{false};
  rt.run([&] {
    s = std::make_unique<fj::scope>();
    s->fork([&] { test::spin_until([&] { return over.load(); }); });
    fj::scope inner;
    inner.fork([&] {
      s.reset();
      over = true;
    });
  });
  return 0;
}

// Destroyed outside of any runtime.
int destroyed_outside() {
  fj::runtime rt(test::with(2, test::stealing::every_fork));
  std::unique_ptr<fj::scope> s;
  rt.run([&] {
    s = std::make_unique<fj::scope>();
    s->fork([] {});
  });
  s.reset();
  return 0;
}

}  // namespace

int main() {
  test::verdict verdict;
  const auto check = [&](auto body, const std::string& what) {
    const test::ending end = test::in_child(body);
    verdict.check(end.signal == SIGABRT,
                  what + ": ended with signal " + std::to_string(end.signal) + ", code " + std::to_string(end.code));
    verdict.contains(end.said, "destroyed by another strand", what);
    verdict.contains(end.said, "in the function that made it", what);
  };
  check(&destroyed_elsewhere, "by another strand");
  check(&destroyed_outside, "outside");
  return verdict.exit_code();
}
