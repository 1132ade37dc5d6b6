// A plugin, or a shared library, that uses the library: see plugins_test.py.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

bool complain(const char* what) {
  std::printf("%s: %s\n", PLUGIN_NAME, what);
  return false;
}

// Waits until a thief takes the second branch, or gives up.
bool second_is_stolen(fj::runtime& rt) {
  std::atomic<bool> stolen{false};
  rt.run([&] {
    fj::fork_join(
        [&] {
          const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
          while (!stolen && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        },
        [&] { stolen = rt.stats().total().steals > 0; });
  });
  return stolen;
}

}  // namespace

#define PLUGIN_ENTRY_2(name) run_##name
#define PLUGIN_ENTRY(name) PLUGIN_ENTRY_2(name)

/// Whether everything worked.
extern "C" [[gnu::visibility("default")]] int PLUGIN_ENTRY(PLUGIN)() {
  if (fib(15) != 610) return complain("the default runtime goes wrong");  // first: nothing has set the thread-locals
  fj::options chosen;
  chosen.procs = 2;
  fj::runtime rt(chosen);
  if (!second_is_stolen(rt)) return complain("nothing is stolen");
  const auto before = rt.stats().total().slow_pushes;
  if (rt.run([] { return fib(20); }) != 6765) return complain("a wrong result");
  if (rt.stats().total().slow_pushes - before > 5000) return complain("every push is slow");
  long sum = 0;
  rt.run([&] {
    std::atomic<long> added{0};
    {
      fj::scope s;
      for (int i = 0; i < 100; ++i) s.fork([&added, i] { added += i; });
    }
    sum = added;
  });
  if (sum != 4950) return complain("a scope goes wrong");
  // They wait while each copy of the library looks for lost fibers (FORKJOIN_LOST=1).
  const fj::channel<int> questions(0);
  auto waits = rt.go([=] { return questions.receive().value_or(0); });
  auto waits_here = fj::go([=] { return questions.receive().value_or(0); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  questions.send(3), questions.send(4);
  if (waits.get() + waits_here.get() != 7) return complain("a wrong answer");
  try {
    rt.run([] { fj::fork_join([] {}, []() { throw 7; }); });
    return complain("no exception");
  } catch (int seven) {
    return seven == 7 || complain("a wrong exception");
  }
}
