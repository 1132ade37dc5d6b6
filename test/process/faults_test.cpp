// A program that handles SIGSEGV itself, or has a stack for its handlers, keeps both when it starts a runtime. It
// handles the system calls that a sandbox traps, also on workers. If code inside a runtime destroys that runtime, the
// runtime says so.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

#include "forkjoin/abi/os/clock.hpp"
#include "runtime/os/cpu.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

int* volatile somewhere = nullptr;
bool wants_details = false;

[[noreturn]] void end(int signal, bool as_expected) { _exit(signal == SIGSEGV && as_expected ? 7 : 8); }

void handle(int signal) { end(signal, !wants_details); }

void handle_with_details(int signal, siginfo_t* info, void* context) {
  end(signal, wants_details && info->si_addr == somewhere && context);
}

int fault(bool details, bool inside) {
  wants_details = details;
  struct sigaction action = {};
  if (details) {
    action.sa_sigaction = handle_with_details;
    action.sa_flags = SA_SIGINFO;
  } else {
    action.sa_handler = handle;
  }
  sigaction(SIGSEGV, &action, nullptr);
  fj::runtime rt(test::with_procs(2));
  rt.run([] {});
  somewhere = reinterpret_cast<int*>(std::uintptr_t{64});
  if (inside) rt.run([] { *somewhere = 1; });
  *somewhere = 1;
  return 0;
}

// A handler that is to be called once, and one that sends the signal again: with the flags that they were installed
// with the default action comes next. Tried without call_as_system in os/memory_fault.cpp: the first is called for
// ever, and the second ends with status 9.
int fault_again(bool by_raise) {
  struct sigaction action = {};
  static bool raises;
  raises = by_raise;
  action.sa_handler = [](int signal) {
    if (!raises) return;
    raise(signal);
    _exit(9);
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND | (by_raise ? SA_NODEFER : 0));
  sigaction(SIGSEGV, &action, nullptr);
  fj::runtime rt(test::with_procs(2));
  rt.run([] {});
  somewhere = reinterpret_cast<int*>(std::uintptr_t{64});
  *somewhere = 1;
  return 0;
}

// The main thread's stack for handlers is in use when its objects are destroyed. Tried with a destructor that frees it
// all the same: AddressSanitizer reports it.
int exit_in_handler() {
  struct sigaction action = {};
  action.sa_handler = [](int) { exit(7); };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  fj::run([] {});
  somewhere = reinterpret_cast<int*>(std::uintptr_t{64});
  *somewhere = 1;
  return 0;
}

// Returns 0 if the stack is still the program's own after a run.
int keep_alternate_stack() {
  static char memory[64 << 10];
  stack_t own = {}, present = {};
  own.ss_sp = memory;
  own.ss_size = sizeof(memory);
  sigaltstack(&own, nullptr);
  fj::runtime rt(test::with_procs(1));
  rt.run([] {});
  sigaltstack(nullptr, &present);
  return present.ss_sp == memory && present.ss_size == sizeof(memory) && present.ss_flags == 0 ? 0 : 1;
}

std::atomic<int> trapped{0};

// What becomes of the system call from now on, for this thread and those it starts. False if the system refuses.
bool filter_call(unsigned call, unsigned becomes) {
  sock_filter program[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call},
      {BPF_RET | BPF_K, 0, 0, becomes},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog filter{4, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// With SIGSYS blocked on workers (tried) the second branch ends the process. Returns 9 if the system cannot do this.
int call_on_worker() {
  struct sigaction action = {};
  action.sa_handler = [](int) { ++trapped; };
  sigaction(SIGSYS, &action, nullptr);
  if (!filter_call(SYS_getppid, SECCOMP_RET_TRAP)) return 9;
  fj::runtime rt(test::with_procs(2));
  rt.run([] {
    std::atomic<bool> called{false};
    fj::fork_join([&] { test::spin_until([&] { return called.load(); }); },
                  [&] {
                    syscall(SYS_getppid);
                    called = true;
                  });
  });
  return trapped == 1 ? 0 : 1;
}

// A sleep that the system refuses ends: tried without the question for EINTR, it hangs. Returns 9 if the system cannot
// do this.
int refused_sleep() {
  if (!filter_call(SYS_clock_nanosleep, SECCOMP_RET_ERRNO | EPERM)) return 9;
  fj::detail::os::sleep_ns(1'000'000'000);
  return 0;
}

// Ways of destroying `a` by code that it waits for. If the destructor does not check which runtime waits for the job
// (tried), each hangs.
int destroy_awaited(const std::string& how) {
  auto a = std::make_unique<fj::runtime>(test::with_procs(2));
  fj::runtime b(test::with_procs(2)), c(test::with_procs(2));
  const auto destroy = [&] { a.reset(); };
  if (how == "directly") a->run([&] { b.run(destroy); });
  if (how == "by way of a third") a->run([&] { b.run([&] { c.run(destroy); }); });
  if (how == "from a stolen branch") {
    a->run([&] { b.run([&] { fj::fork_join([] { test::spin_until([] { return false; }); }, destroy); }); });
  }
  if (how == "from a scope's child") {
    a->run([&] {
      fj::with_scope([&](fj::scope& outer) {
        outer.fork([&] { b.run([&] { fj::with_scope([&](fj::scope& s) { s.fork(destroy); }); }); });
      });
    });
  }
  return 0;
}

// While jobs of other runtimes wait for each other, code in them may destroy a runtime that none of them needs. And a
// thread outside may destroy a runtime in which a strand waits.
int destroy_unrelated() {
  auto a = std::make_unique<fj::runtime>(test::with_procs(2)),
       other = std::make_unique<fj::runtime>(test::with_procs(2));
  fj::runtime b(test::with_procs(2));
  other->run([] {});
  std::atomic<bool> inside{false}, over{false};
  std::thread user([&, waits = a.get()] {
    waits->run([&] {
      b.run([&] {
        other.reset();
        inside = true;
        test::spin_until([&] { return over.load(); });
      });
    });
  });
  test::spin_until([&] { return inside.load(); });
  std::thread end([&] { over = true; });
  b.run([&] { a.reset(); });
  end.join();
  user.join();
  return 0;
}

int destroy_inside() {
  auto rt = std::make_unique<fj::runtime>(test::with_procs(2));
  rt->run([&] { rt.reset(); });
  return 0;
}

}  // namespace

int main() {
  test::verdict verdict;
  const auto told = [](const test::ending& end) {
    return ": exit code " + std::to_string(end.code) + ", signal " + std::to_string(end.signal) + ", said " + end.said;
  };
  for (const bool details : {false, true})
    for (const bool inside : {false, true}) {
      const test::ending end = test::in_child([=] { return fault(details, inside); });
      verdict.check(end.code == 7, std::string("a handler ") + (details ? "with details, " : "") +
                                       (inside ? "inside" : "outside") + told(end));
    }
  for (const bool by_raise : {false, true}) {
    const test::ending end = test::in_child([=] { return fault_again(by_raise); }, 20);
    verdict.check(end.signal == SIGSEGV, std::string("a handler for one fault") + told(end));
  }
  const test::ending exits = test::in_child(&exit_in_handler, 20);
  verdict.check(exits.code == 7, "a handler that calls exit" + told(exits));
  const test::ending kept = test::in_child(&keep_alternate_stack);
  verdict.check(kept.code == 0, "the stack for handlers" + told(kept));
  const test::ending inside = test::in_child(&destroy_inside, 60);
  verdict.check(inside.signal == SIGABRT, "destroyed inside" + told(inside));
  verdict.contains(inside.said, "destroyed by code that runs in it", "destroyed inside");
  for (const std::string how : {"directly", "by way of a third", "from a stolen branch", "from a scope's child"}) {
    const test::ending awaited = test::in_child([&] { return destroy_awaited(how); }, 60);
    verdict.check(awaited.signal == SIGABRT, "destroyed " + how + told(awaited));
    verdict.contains(awaited.said, "a runtime was destroyed by code that it waits for", "destroyed " + how);
  }
  const test::ending unrelated = test::in_child(&destroy_unrelated, 60);
  verdict.check(unrelated.code == 0, "destroyed by others" + told(unrelated));
  const test::ending called = test::in_child(&call_on_worker);
  verdict.check(called.code == 0 || called.code == 9, "a trapped call on a worker" + told(called));
  const test::ending slept = test::in_child(&refused_sleep);
  verdict.check(slept.code == 0 || slept.code == 9, "a sleep that the system refuses" + told(slept));
  return verdict.exit_code();
}
