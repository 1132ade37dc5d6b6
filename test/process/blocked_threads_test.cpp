// Threads and the monitor: which there are, when they sleep, and what happens when there are not enough.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"
#include "test/threads.hpp"

namespace {

int tree(int depth) {
  if (depth == 0) return 1;
  auto [a, b] = fj::fork_join([=] { return tree(depth - 1); }, [=] { return tree(depth - 1); });
  return a + b;
}

/// Blocks threads until it is opened.
class gate {
 public:
  void open() {
    open_ = true;
    open_.notify_all();
  }
  void wait() const { open_.wait(false); }

 private:
  std::atomic<bool> open_{false};
};

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

/// Until no other thread leaves its sleep for ten looks of a monitor that does not rest.
void wait_until_all_rest() {
  test::spin_until([] {
    const auto before = test::other_threads();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return before == test::other_threads();
  });
}

// In a process of its own: more calls that block than threads.
int block_all_threads() {
  fj::options few = test::with_procs(2);
  few.max_workers = 3;
  fj::runtime rt(few);
  gate opened;
  std::atomic<int> inside{0};
  std::vector<fj::future<void>> blocked;
  for (int i = 0; i < 6; ++i)
    blocked.push_back(rt.go([&, i] {
      const auto wait = [&] {
        ++inside;
        opened.wait();
      };
      i % 2 == 0 ? fj::blocking_now(wait) : fj::blocking(wait);
    }));
  test::spin_until([&] { return inside == 3 && rt.stats().retakes_refused >= 1; });
  rest();
  const bool bounded = inside == 3;
  opened.open();
  for (auto& b : blocked) b.get();
  return bounded && inside == 6 && rt.go([] { return tree(5); }).get() == 32 ? 0 : 1;
}

}  // namespace

int main() {
  test::verdict verdict;
  {
    const test::watchdog dog("no monitor without need", 1);
    fj::runtime rt(test::with_procs(1));
    const std::size_t before = test::other_threads().size();
    verdict.check(rt.run([] { return tree(10); }) == 1024, "forks");
    verdict.check(test::other_threads().size() == before, "a program that only forks has no monitor");
    verdict.check(rt.run([] { return fj::blocking([] { return 1; }); }) == 1, "a blocking call");
    verdict.check(test::other_threads().size() >= before + 1, "a blocking call starts the monitor");
  }
  for (const unsigned p : {1u, 2u, 8u}) {
    // Tried with a monitor that never rests: hung.
    const test::watchdog dog("all threads sleep", p);
    fj::runtime rt(test::with_procs(p));
    for (int i = 0; i < 3; ++i) {
      gate opened;
      std::atomic<unsigned> inside{0};
      std::vector<fj::future<void>> blocked;
      for (unsigned k = 0; k < p + 1; ++k)
        blocked.push_back(rt.go([&] {
          fj::blocking([&] {
            ++inside;
            opened.wait();
          });
        }));
      test::spin_until([&] { return inside == p + 1; });
      wait_until_all_rest();  // every P is idle, though the calls go on
      opened.open();
      for (auto& b : blocked) b.get();
      wait_until_all_rest();
      verdict.check(rt.run([] { return tree(8); }) == 256, "forks after a rest");
    }
  }
  const test::ending end = test::in_child(&block_all_threads);
  verdict.check(end.code == 0, "more blocking calls than threads: code " + std::to_string(end.code));
  verdict.contains(end.said, "options::max_workers", "message at the cap");
  verdict.check(end.said.find("keeps its P") == end.said.rfind("keeps its P"), "said once: " + end.said);
  return verdict.exit_code();
}
