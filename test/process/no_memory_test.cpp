// A system that refuses stacks: std::bad_alloc or a right result, never a hang or a crash.

#include <dlfcn.h>
#include <sys/mman.h>

#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "test/process/child.hpp"
#include "test/process/scheduled.hpp"
#include "test/support.hpp"

namespace {

std::atomic<int> maps_left{-1};  // calls until mmap fails; -1: it does not fail

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

long fib_of_tasks(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join<fj::tasks>([=] { return fib_of_tasks(n - 1); }, [=] { return fib_of_tasks(n - 2); });
  return a + b;
}

long fib_of_scopes(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  fj::scope s;
  s.fork([&a, n] { a = fib_of_scopes(n - 1); });
  b = fib_of_scopes(n - 2);
  s.join();
  return a + b;
}

// A fork that gets no stack calls its child on the caller's stack, and the child's exception leaves the fork.
bool throws_right() {
  try {
    fj::with_scope([](fj::scope& s) {
      for (int i = 0; i < 8; ++i)
        s.fork([i, &s] {
          s.fork([] {});
          if (i >= 3) throw i;
        });
    });
  } catch (int i) {
    return i == 3;
  }
  return false;
}

bool is_right(fj::runtime& rt) {
  try {
    return rt.run([] { return fib(11); }) == 89 && rt.run([] { return fib_of_tasks(11); }) == 89 &&
           rt.run([] { return fib_of_scopes(11); }) == 89 && rt.run(&throws_right);
  } catch (const std::bad_alloc&) {
    return true;
  }
}

// A fiber of the one runtime calls run of the other.
bool is_right(fj::runtime& rt, fj::runtime& other) {
  try {
    return rt.run([&] { return other.run([] { return fib(10); }) + fib(5); }) == 60;
  } catch (const std::bad_alloc&) {
    return true;
  }
}

// The home strand joins with a fork of its own in the deque, while a child waits for another runtime. Hangs with one P
// if the join waits for the memory of another deque.
bool joins_right(fj::runtime& rt, fj::runtime& other) {
  try {
    return rt.run([&] {
      int a = 0, b = 0, c = 0;
      fj::scope s;
      for (int i = 0; i < 5; ++i) {
        s.fork([&] {
          try {
            a += other.run([] { return 1; });
          } catch (const std::bad_alloc&) {
            ++a;
          }
        });
        fj::fork_join(
            [&] {
              s.join();
              ++b;
            },
            [&] { ++c; });
        s.join();
      }
      return a + b + c;
    }) == 15;
  } catch (const std::bad_alloc&) {
    return true;
  }
}

}  // namespace

// Replaces the C library's function. (Meson sets 64-bit file offsets, so the runtime calls mmap64, and this replaces
// it. malloc and thread stacks use another one.)
extern "C" void* mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  using function = void* (*)(void*, std::size_t, int, int, int, off_t);
  static const auto original = reinterpret_cast<function>(dlsym(RTLD_NEXT, "mmap"));
  if ((flags & MAP_NORESERVE) && bytes >= 64 << 10) {
    if (int left = maps_left.load(); left >= 0) {
      do
        if (left == 0) return errno = ENOMEM, MAP_FAILED;
      while (!maps_left.compare_exchange_weak(left, left - 1));
    }
  }
  return original(address, bytes, protection, flags, file, offset);
}

int main() {
  test::verdict verdict;
  unsigned refused = 0, made = 0;
  for (const auto how :
       {test::stealing::by_need, test::stealing::every_fork, test::stealing::all_public, test::stealing::by_signal}) {
    const test::fences fences(how);
    for (const unsigned p : {1u, 2u, 8u})
      for (int k = 0; k <= 40; ++k) {
        const std::string name = "P = " + std::to_string(p) + ", " + std::to_string(k) + " maps, " + test::name_of(how);
        const test::watchdog dog(name.c_str(), p, 20);
        maps_left = k;
        try {
          fj::runtime rt(test::with(p, how)), other(test::with(1, how));
          ++made;
          verdict.check(is_right(rt), name);
          verdict.check(is_right(rt, other), name + ", from a fiber");
          verdict.check(joins_right(rt, other), name + ", a join while a child waits");
          std::vector<std::thread> callers;
          std::atomic<int> right{0};
          for (int t = 0; t < 4; ++t) callers.emplace_back([&] { right += is_right(rt); });
          for (auto& caller : callers) caller.join();
          verdict.check(right == 4, name + ", four callers");
          maps_left = -1;
          // The system gives memory again.
          verdict.check(rt.run([] { return fib(12); }) == 144, name + ", afterwards");
        } catch (const std::bad_alloc&) {
          ++refused;  // by the constructor
        }
        maps_left = -1;
      }
  }
  verdict.check(refused > 0 && made > 0, "the limit shows");
  for (const unsigned p : {1u, 2u}) {
    // A scheduled call waits for a stack. Tried with one that is refused as other roots are: it never runs.
    const test::watchdog dog("a scheduled call without a stack", p, 20);
    fj::runtime rt(test::with_procs(p));
    test::scheduled first, second;
    maps_left = 0;
    first.start(rt);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    verdict.check(!first.ran(), "a scheduled call waits for a stack");
    maps_left = -1;
    test::spin_until([&] { return first.ran(); });
    // There is one that another strand uses.
    rt.run([&] {
      maps_left = 0;
      second.start(rt);
    });
    test::spin_until([&] { return second.ran(); });
    maps_left = -1;
  }
  return verdict.exit_code();
}
