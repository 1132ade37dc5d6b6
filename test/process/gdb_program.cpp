// Strands that a debugger is to follow: gdb_test.py.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"

extern "C" {
// A function with a name at which a debugger can break.
[[gnu::noinline]] void stop_here() { asm volatile("" ::: "memory"); }
}

namespace {

bool parent_waits = false, dies = false;
std::atomic<bool> begun{false}, over{false};

// Until so many fibers wait, of which this strand is none.
template <class Sleep>
void sleep_until_wait(std::size_t n, Sleep sleep) {
  while (fj::count_fibers().waiting < n) sleep(std::chrono::milliseconds(1));
}

void stop() {
  if (parent_waits)  // the other branch ends, and its strand waits
    sleep_until_wait(1, [](auto time) { std::this_thread::sleep_for(time); });
  if (dies) std::abort();
  stop_here();
  over = true;
}

[[gnu::noinline]] int deep(int n) {
  if (n == 0) {
    stop();
    return 0;
  }
  const int below = deep(n - 1);
  asm volatile("" ::: "memory");
  return below + 1;
}

void other_branch() {
  while (!begun) fj::fork_join([] {}, [] {});
  while (!parent_waits && !over) fj::fork_join([] {}, [] {});
}

[[gnu::noinline]] int outer(int n) {
  auto [a, b] = fj::fork_join(
      [] {
        other_branch();
        return 1;
      },
      [] {
        begun = true;
        return deep(3);
      });
  asm volatile("" ::: "memory");
  return a + b + n;
}

[[gnu::noinline]] void in_scope() {
  fj::scope s;
  s.fork([] {
    begun = true;
    deep(2);
  });
  s.fork([] { other_branch(); });
  s.join();
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void in_loop() {
  fj::fork_each(0, 2, [](int i) {
    if (i == 0) return other_branch();
    begun = true;
    deep(2);
  });
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void in_fiber() {
  fj::channel<int> c(0);
  auto receiver = fj::go([&] { return c.receive().value_or(0); });
  sleep_until_wait(1, [](auto time) { fj::sleep_for(time); });
  stop();
  c.send(1);
  receiver.get();
}

// A thousand fibers wait at one place, and one at another.
[[gnu::noinline]] void in_many() {
  fj::wait_group open;
  open.add(1);
  std::vector<fj::future<void>> all;
  for (int i = 0; i < 1'000; ++i) all.push_back(fj::go([&] { open.wait(); }));
  all.push_back(fj::go([&] { open.wait(); }));
  sleep_until_wait(all.size(), [](auto time) { fj::sleep_for(time); });
  stop();
  open.done();
  for (auto& each : all) each.get();
}

[[gnu::noinline]] void top(const char* what) {
  if (std::strcmp(what, "fork") == 0) std::printf("%d\n", outer(5));
  if (std::strcmp(what, "scope") == 0) in_scope();
  if (std::strcmp(what, "loop") == 0) in_loop();
  if (std::strcmp(what, "go") == 0) in_fiber();
  if (std::strcmp(what, "many") == 0) in_many();
  asm volatile("" ::: "memory");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  parent_waits = std::strstr(arguments[2], "waits") != nullptr;
  dies = std::strstr(arguments[2], "dies") != nullptr;
  fj::runtime rt({.procs = 2});
  rt.run([what = arguments[1]] { top(what); });
}
