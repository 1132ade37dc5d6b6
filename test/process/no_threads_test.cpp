// A system that refuses threads: fewer workers, right results, never a hang.

#include <dlfcn.h>
#include <pthread.h>

#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/process/scheduled.hpp"
#include "test/support.hpp"

namespace {

std::atomic<int> threads_left{-1};   // calls until pthread_create fails; -1: it does not fail
std::atomic<int> refused{0};         // calls that failed
std::atomic<bool> may_choose{true};  // whether the caller may choose the processors of a thread

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

// A result, or a clear refusal.
bool is_right(fj::runtime& outer, fj::runtime& inner) {
  try {
    return outer.run([&] { return inner.run([] { return fib(10); }); }) == 55;
  } catch (const std::system_error& error) {
    return std::string(error.what()).find("no thread") != std::string::npos;
  }
}

}  // namespace

// Replaces the C library's function.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                              void* argument) {
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto original = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
  if (attributes && !may_choose) return EPERM;
  if (int left = threads_left.load(); left >= 0) {
    do
      if (left == 0) {
        if (!attributes) ++refused;  // the runtime asks once more without attributes
        return EAGAIN;
      }
    while (!threads_left.compare_exchange_weak(left, left - 1));
  }
  return original(thread, attributes, body, argument);
}

int main() {
  test::verdict verdict;
  {
    // As in a sandbox. If the runtime takes such a refusal for a refused thread (tried), no worker takes the second
    // branch.
    const test::watchdog dog("threads that may not choose their processors", 2, 20);
    may_choose = false;
    fj::runtime rt(test::with_procs(2));
    std::atomic<bool> stolen{false};
    rt.run([&] { fj::fork_join([&] { test::spin_until([&] { return stolen.load(); }); }, [&] { stolen = true; }); });
    may_choose = true;
  }
  {
    // The system refuses threads for a while. Tried, and fails here: a runtime that never asks again, so no worker
    // takes the second branch; a runtime that asks at every job.
    const test::watchdog dog("threads that are refused for a while", 2, 20);
    fj::runtime rt(test::with_procs(2));
    threads_left = 0;
    const auto begin = std::chrono::steady_clock::now();
    refused = 0;
    for (int i = 0; i < 1000; ++i) verdict.check(rt.run([] { return fib(8); }) == 21, "a job without threads");
    const auto tenths = (std::chrono::steady_clock::now() - begin) / std::chrono::milliseconds(100);
    verdict.check(refused >= 1 && refused <= tenths + 1, "threads are asked for ten times a second at most");
    verdict.check(rt.stats().threads_refused == static_cast<unsigned>(refused), "refusals are counted");
    threads_left = -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    std::atomic<bool> stolen{false};
    rt.run([&] { fj::fork_join([&] { test::spin_until([&] { return stolen.load(); }); }, [&] { stolen = true; }); });
  }
  {
    // A scheduled call waits for the runtime's first thread. Tried without the loop in scheduled_call::start: it never
    // runs.
    const test::watchdog dog("a scheduled call without a thread", 2, 20);
    fj::runtime rt(test::with_procs(2));
    test::scheduled call;
    std::atomic<bool> go{false};
    std::thread starts([&] {
      test::spin_until([&] { return go.load(); });
      call.start(rt);
    });
    threads_left = 0;
    go = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    verdict.check(!call.ran(), "a scheduled call waits for a thread");
    threads_left = -1;
    starts.join();
    test::spin_until([&] { return call.ran(); });
  }
  {
    // A thread is refused to a fiber that took its P over from a blocking call: no job comes that would ask again, and
    // the call waits for the fiber. Tried without ask_for_refused_thread in sched/monitor.cpp: they wait for ever; so
    // they do if the monitor may rest meanwhile.
    const test::watchdog dog("a thread that is refused to a fiber", 1, 20);
    fj::runtime rt(test::with_procs(1));
    std::atomic<bool> has_run{false}, goes_on{false};
    auto blocks = rt.go([&] {
      test::spin_until([&] { return goes_on.load(); });
      static_cast<void>(fj::go([&] { has_run = true; }));
      fj::blocking_now([&] { test::spin_until([&] { return has_run.load(); }); });
    });
    fj::sleep_for(std::chrono::milliseconds(1));  // the monitor has its thread
    refused = 0;
    threads_left = 0;
    goes_on = true;
    test::spin_until([&] { return refused.load() > 1; });  // it asks again
    verdict.check(!has_run, "a fiber without a thread");
    threads_left = -1;
    blocks.get();
  }
  {
    // The thread is refused while nothing waits for it; later something becomes ready, by no job. Tried with a monitor
    // that rests unless something waits: it has no thread for ever.
    const test::watchdog dog("a thread that is refused before it is needed", 2, 20);
    fj::runtime rt(test::with_procs(2));
    const fj::channel<int> sent(0);
    std::atomic<bool> has_run{false}, blocks{false};
    auto waits = rt.go([&] { has_run = sent.receive() == 1; });
    test::spin_until([&] { return rt.stats().total().parks > 0; });  // so one thread is enough for what follows
    auto calls = rt.go([&] {
      fj::blocking_now([&] {
        blocks = true;
        test::spin_until([&] { return has_run.load(); });
      });
    });
    test::spin_until([&] { return blocks.load(); });
    refused = 0;
    threads_left = 0;
    rt.run([] { fj::fork_join([] { test::spin_until([] { return refused.load() > 0; }); }, [] {}); });
    threads_left = -1;
    fj::sleep_for(std::chrono::milliseconds(50));  // the monitor could rest
    sent.send(1);
    calls.get();
    waits.get();
  }
  for (const auto how :
       {test::stealing::by_need, test::stealing::every_fork, test::stealing::all_public, test::stealing::by_signal}) {
    const test::fences fences(how);
    for (const unsigned p : {1u, 2u, 8u})
      for (int k = 0; k <= 5; ++k) {
        const std::string name =
            "P = " + std::to_string(p) + ", " + std::to_string(k) + " threads, " + test::name_of(how);
        const test::watchdog dog(name.c_str(), p, 20);
        // Starts the test's own threads first.
        std::atomic<bool> go{false};
        std::atomic<int> right{0};
        std::optional<fj::runtime> rt, other;
        std::vector<std::thread> callers;
        for (int t = 0; t < 4; ++t)
          callers.emplace_back([&] {
            test::spin_until([&] { return go.load(); });
            for (int i = 0; i < 20; ++i) {
              // Where there is no other thread, a caller wakes by itself for the timers of all. Tried without
              // tell_caller: hung.
              right += rt->run([&rt, i] {
                if (i % 4 == 0) fj::sleep_for(std::chrono::microseconds(200));
                // A call that has a P keeps it, or gives it to a caller: one that runs a job of its own, too.
                if (i % 4 == 1) fj::blocking([] { std::this_thread::sleep_for(std::chrono::microseconds(200)); });
                const auto inner = [&] { return rt->run([] { return fib(12); }); };
                return i % 4 == 2 ? fj::blocking_now(inner) : i % 4 == 3 ? fj::blocking(inner) : fib(12);
              }) == 144;
            }
          });
        threads_left = k;
        rt.emplace(test::with(p, how));
        other.emplace(test::with(p, how));
        for (int i = 0; i < 20; ++i) verdict.check(rt->run([] { return fib(14); }) == 377, name + ": a job");
        for (int i = 0; i < 5; ++i) verdict.check(is_right(*rt, *other), name + ": a job from a fiber");
        go = true;
        for (auto& caller : callers) caller.join();
        verdict.check(right == 80, name + ": jobs of four callers");
        rt.reset();
        other.reset();
        threads_left = -1;
      }
  }
  return verdict.exit_code();
}
