// fork(2) with a live runtime: in the child process the old runtime refuses with a message, a new one works, and the
// child can end. The default runtime of the child is one of its own.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

bool refuses(fj::runtime& rt) {
  try {
    rt.run([] { return fib(5); });
  } catch (const std::logic_error& error) {
    const std::string text = error.what();
    return text.find("fork(2)") != std::string::npos && text.find("new fj::runtime") != std::string::npos;
  }
  return false;
}

// Calls fork(2) while a thief has the rest of the job. The child process goes on to the join. Returns the signal that
// ended it.
int fork_inside() {
  fj::runtime rt(test::with_procs(2));
  return rt.run([] {
    std::atomic<bool> stolen{false}, may_end{false};
    int signal = 0;
    fj::fork_join(
        [&] {
          while (!stolen) std::this_thread::yield();
          const pid_t child = fork();
          if (child == 0) {
            alarm(10);
            return;
          }
          int status = 0;
          waitpid(child, &status, 0);
          signal = WIFSIGNALED(status) ? WTERMSIG(status) : -1;
          may_end = true;
        },
        [&] {
          stolen = true;
          while (!may_end) std::this_thread::yield();
        });
    return signal;
  });
}

}  // namespace

int main() {
  test::verdict verdict;
  for (const unsigned p : {1u, 2u, 8u}) {
    const test::watchdog dog("fork(2)", p);
    auto old = std::make_unique<fj::runtime>(test::with_procs(p));
    old->run([] { fib(15); });
    const auto check = [&](const char* what, auto body) {
      const test::ending end = test::in_child(body, 60);
      verdict.check(!end.too_late, std::string(what) + ": hangs with P = " + std::to_string(p));
      verdict.check(end.too_late || end.code == 0, std::string(what) + ": exit code " + std::to_string(end.code) +
                                                       ", signal " + std::to_string(end.signal) + ", said " + end.said);
    };
    check("run on the old runtime", [&] { return refuses(*old) ? 0 : 1; });
    check("a new runtime", [&] {
      fj::runtime fresh(test::with_procs(p));
      return fresh.run([] { return fib(12); }) == 144 && refuses(*old) ? 0 : 1;
    });
    check("the new runtime runs the old one", [&] {
      fj::runtime fresh(test::with_procs(p));
      return fresh.run([&] { return refuses(*old); }) ? 0 : 1;
    });
    check("the end of the old runtime", [&] {
      old.reset();
      return 0;
    });
    check("a child of a child", [&] {
      fj::runtime fresh(test::with_procs(p));
      fresh.run([] { fib(10); });
      return test::in_child([&] { return refuses(fresh) && refuses(*old) ? 0 : 1; }, 60).code;
    });
    // fork(2) while a job runs. With a destructor that waits for the job's end (tried) the child hangs.
    std::atomic<bool> runs{false}, may_end{false};
    std::thread other([&] {
      old->run([&] {
        runs = true;
        while (!may_end) std::this_thread::yield();
      });
    });
    while (!runs) std::this_thread::yield();
    check("the end of the old runtime amid a job", [&] {
      old.reset();
      return 0;
    });
    may_end = true;
    other.join();
    // Tried with a child that gives the P of that code away: it hangs.
    check("a runtime that a child of code in another makes and ends", [&] {
      fj::runtime around(test::with_procs(p));
      return around.run([&] {
        return test::in_child([&] {
                 fj::runtime fresh(test::with_procs(p));
                 static_cast<void>(fresh.go([] { fj::sleep_for(std::chrono::milliseconds(5)); }));
                 return 0;
               })
            .code;
      });
    });
    check("the end of the old runtime by a child of code in it", [&] {
      fj::runtime* fresh = new fj::runtime(test::with_procs(p));
      return fresh->run([&] {
        const test::ending end = test::in_child([&] {
          delete fresh;
          return 0;
        });
        return end.code;
      });
    });
    // A fiber of the parent waits, and others are made ready all the time when the process is copied. Tried with a
    // child that makes the waiting one ready in its copy of the runtime: it hangs, or ends with a message.
    const fj::channel<int> waited_for(0);
    std::atomic<bool> over{false};
    auto waits = old->go([&] { static_cast<void>(waited_for.receive()); });
    auto others = old->go([&] {
      while (!over) fj::yield();
    });
    while (fj::count_fibers().waiting == 0) std::this_thread::yield();
    for (int i = 0; i != 20; ++i)
      check("a close that ends a wait of the parent's copy", [&] {
        waited_for.close();
        fj::runtime fresh(test::with_procs(p));
        return fresh.run([] { return fib(5); }) == 5 ? 0 : 1;
      });
    over = true;
    waited_for.close();
    waits.get();
    others.get();
    // The parent process notices nothing.
    verdict.check(old->run([] { return fib(12); }) == 144, "the parent's runtime");
  }
  // Without the check of the process (tried) the child waits for ever.
  const test::ending gone_on = test::in_child(fork_inside, 60);
  verdict.check(gone_on.code == SIGABRT, "a child that goes on inside: it ended with " + std::to_string(gone_on.code));
  verdict.contains(gone_on.said, "forkjoin: fork(2) was called by code that runs in a runtime",
                   "a child that goes on inside");

  // The default runtime, made before the fork.
  fj::default_options(test::with_procs(3));
  fj::run([] { fib(10); });
  const auto works = [] { return fj::procs() == 3 && fib(12) == 144 && fj::go([] { return fib(10); }).get() == 55; };
  verdict.check(works(), "the default runtime");
  // Tried with the parent's default runtime in the child: it refuses.
  const test::ending end = test::in_child([&] {
    if (!works()) return 1;
    return test::in_child([&] { return works() ? 0 : 2; }).code;
  });
  verdict.check(end.code == 0, "the default runtime in a child: exit code " + std::to_string(end.code) + end.said);
  verdict.check(works(), "the parent's default runtime afterwards");
  // Each process prints the statistics of its own default runtime once, and none if it used none.
  for (const bool uses : {false, true}) {
    const test::environment stats("FORKJOIN_STATS", "1");
    const test::ending all = test::in_child([&] {
      fib(5);
      const test::ending inner = test::in_child([&] { return uses && fib(5) != 5 ? 1 : 0; });
      int printed = 0;
      for (std::size_t at = 0; (at = inner.said.find("forkjoin: stacks ", at)) != inner.said.npos; ++at) ++printed;
      return printed - (uses ? 1 : 0);
    });
    verdict.check(all.code == 0 && all.said.find("forkjoin: stacks ") != all.said.npos,
                  std::string("statistics of a child that ") + (uses ? "forks" : "does not fork"));
  }
  return verdict.exit_code();
}
