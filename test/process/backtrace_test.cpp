// Calls stop_here() on the strand that its argument names. backtrace_test.py looks at the backtrace from a debugger.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

#include "forkjoin/forkjoin.hpp"

extern "C" {
// A function with a name at which a debugger can break.
[[gnu::noinline]] void stop_here() { asm volatile("" ::: "memory"); }
}

namespace {

std::atomic<bool> elsewhere{false};

void wait_for_others() {
  while (!elsewhere.load()) std::this_thread::yield();
}

[[gnu::noinline]] void leaf() {
  stop_here();
  asm volatile("" ::: "memory");  // no tail call
}

[[gnu::noinline]] void stop_in_job() {
  leaf();
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void stop_in_child() {
  fj::scope s;
  s.fork([] { leaf(); });
  s.join();
}

[[gnu::noinline]] void stop_in_child_without_parent() {
  fj::scope s;
  s.fork([] {
    wait_for_others();
    leaf();
  });
  elsewhere = true;
  s.join();
}

[[gnu::noinline]] void stop_in_stolen_parent() {
  fj::scope s;
  s.fork(&wait_for_others);
  leaf();
  elsewhere = true;
  s.join();
}

// For a runtime that steals every fork: with one P the child's own worker goes on with the parent.
[[gnu::noinline]] void stop_in_own_thief() {
  fj::scope s;
  s.fork([] {});
  leaf();
  s.join();
}

[[gnu::noinline]] void stop_in_branch() {
  fj::fork_join(&wait_for_others, [] {
    leaf();
    elsewhere = true;
  });
}

struct place {
  const char* name;
  void (*job)();
  unsigned procs;
  bool steal_every_fork;
};

constexpr place places[] = {
    {"job", &stop_in_job, 1, false},
    {"child", &stop_in_child, 1, false},
    {"child_without_parent", &stop_in_child_without_parent, 2, false},
    {"stolen_parent", &stop_in_stolen_parent, 2, false},
    {"own_thief", &stop_in_own_thief, 1, true},
    {"branch", &stop_in_branch, 2, false},
};

}  // namespace

int main(int count, char** arguments) {
  for (const place& at : places) {
    if (count != 2 || std::strcmp(arguments[1], at.name) != 0) continue;
    fj::options chosen;
    chosen.procs = at.procs;
    chosen.steal_every_fork = at.steal_every_fork;
    fj::runtime rt(chosen);
    rt.run(at.job);
    return 0;
  }
  std::fprintf(stderr, "no such place\n");
  return 2;
}
