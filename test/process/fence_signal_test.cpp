// Without membarrier a heavy fence is a signal to each thread that may fork: what it orders, and how it gets along with
// a program's own signals, with calls that sleep, and with threads that block it.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <thread>
#include <vector>

#include "forkjoin/go.hpp"
#include "runtime/os/interrupt.hpp"
#include "runtime/sched/fence_by_signal.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

namespace os = fj::detail::os;

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}
constexpr long fib_20 = 6765;

// Nests forks, and comes back from the innermost only when the outermost has been stolen: it becomes public by force
// alone.
void waits_for_thief(int forks, std::atomic<bool>& stolen) {
  if (forks == 0) return test::spin_until([&] { return stolen.load(); });
  fj::fork_join([&] { waits_for_thief(forks - 1, stolen); }, [&] { stolen = true; });
}

bool is_forced() {
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> stolen{false};
    waits_for_thief(8, stolen);
  }
  return true;
}

// A thread, which takes each of these steps when it is told to.
class told {
 public:
  enum step { nothing, begins, blocks, unblocks, ends, sleeps, over };

  told() : thread_([this] { live(); }) {}
  ~told() {
    go(over);
    thread_.join();
  }
  void go(step next) {
    step_ = next;
    if (next != over) test::spin_until([this] { return step_ == nothing; });
  }
  fj::detail::light_fences part;
  std::atomic<bool> sleeping{false}, interrupted{false};

 private:
  void live() {
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    for (step now = nothing; now != over; now = step_) {
      if (now == begins) part.begin();
      if (now == ends) part.end();
      if (now == blocks) pthread_sigmask(SIG_BLOCK, &urgent, nullptr);
      if (now == unblocks) pthread_sigmask(SIG_UNBLOCK, &urgent, nullptr);
      step done = now;
      step_.compare_exchange_strong(done, nothing);
      if (now != sleeps) continue;
      sleeping = true;
      const timespec time{0, 100'000'000};
      interrupted = nanosleep(&time, nullptr) != 0;
      sleeping = false;
    }
  }

  std::atomic<step> step_{nothing};
  std::thread thread_;
};

// Who is asked, and what a fence says of those that do not answer.
int answers() {
  if (!os::allow_interrupts(os::usual_interrupt_signal())) return 2;
  fj::detail::fence_by_signal heavy;
  told a, b;
  heavy.add(a.part);
  heavy.add(b.part);
  if (!heavy.pass(nullptr)) return 3;  // none is active
  a.go(told::begins);
  b.go(told::begins);
  // A thread that has no processor for 10 ms does not answer either.
  const auto is_answered = [&] { return heavy.pass(nullptr); };
  for (int i = 0; i < 100; ++i) test::spin_until(is_answered);
  a.go(told::blocks);
  const auto before = heavy.unanswered();
  if (heavy.pass(nullptr) || heavy.unanswered() != before + 1) return 5;  // after 10 ms
  if (heavy.pass(nullptr)) return 6;                                      // at once
  a.go(told::unblocks);
  test::spin_until(is_answered);
  a.go(told::blocks);
  test::spin_until([&] { return heavy.pass(&a.part); });  // its own part is not asked
  a.go(told::ends);
  test::spin_until(is_answered);
  a.go(told::begins);  // a thread that blocks the signal when it begins is not waited for
  if (heavy.pass(nullptr)) return 9;
  b.go(told::ends);
  b.go(told::sleeps);
  test::spin_until([&] { return b.sleeping.load(); });
  for (int i = 0; i < 100; ++i) static_cast<void>(heavy.pass(nullptr));
  test::spin_until([&] { return !b.sleeping.load(); });
  return b.interrupted ? 10 : 0;
}

std::atomic<int> handled{0};
void count(int) { ++handled; }
void count_with_info(int, siginfo_t*, void*) { ++handled; }

void handle_urgent(bool with_info) {
  struct sigaction by{};
  by.sa_handler = &count;
  if (with_info) {
    by.sa_flags = SA_SIGINFO;
    by.sa_sigaction = &count_with_info;
  }
  sigaction(SIGURG, &by, nullptr);
}

// As some sandboxes do.
void refuse_signals_with_values() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_tgsigqueueinfo, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog all{std::size(rules), rules};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0) std::fputs("no filter of system calls\n", stderr);
}

int program(const std::string& how) {
  const test::watchdog dog("fences by signal", 2);
  if (how == "answers") return answers();
  if (how == "handles it" || how == "handles it with information") handle_urgent(how != "handles it");
  if (how == "in a sandbox") {
    handle_urgent(true);
    refuse_signals_with_values();
  }
  if (how == "blocks it") {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
  }
  fj::runtime rt(test::with_procs(2));
  if (how == "in a sandbox") return rt.run(&is_forced) && handled == 0 ? 0 : 1;
  if (how == "uses force") return rt.run(&is_forced) ? 0 : 1;
  if (how == "handles it" || how == "handles it with information") {
    // What the library sends is its own, what the program sends is the program's.
    if (!rt.run(&is_forced) || handled != 0) return 1;
    kill(getpid(), SIGURG);
    test::spin_until([] { return handled != 0; });
    if (handled != 1) return 2;
    // Tried with each signal of this process taken for the library's.
    raise(SIGURG);
    if (handled != 2) return 3;
    rt.run([] { pthread_kill(pthread_self(), SIGURG); });
    if (handled != 3) return 4;
    sigqueue(getpid(), SIGURG, {});
    test::spin_until([] { return handled == 4; });
    return rt.run(&is_forced) && handled == 4 ? 0 : 5;
  }
  if (how == "takes it away") {
    // Nothing answers any more: nothing is forced, and nothing is wrong or waits for long.
    handle_urgent(false);
    for (int i = 0; i < 20; ++i)
      if (rt.run([] { return fib(20); }) != fib_20) return 1;
    return 0;
  }
  if (how == "blocks it") {
    // The caller's records are not forced, and those of others are.
    for (int i = 0; i < 20; ++i)
      if (rt.run([] { return fib(20); }) != fib_20) return 1;
    return rt.run([] { return fj::go(&is_forced).get(); }) ? 0 : 2;
  }
  if (how == "sleeps") {
    // Within fj::blocking no fence ends a call.
    std::atomic<bool> over{false};
    std::atomic<int> ended{0};
    rt.run([&] {
      auto sleeper = fj::go([&] {
        for (int i = 0; i < 20; ++i)
          fj::blocking([&] {
            const timespec time{0, 10'000'000};
            if (nanosleep(&time, nullptr) != 0) ++ended;
          });
        over = true;
      });
      while (!over) is_forced();
      sleeper.get();
    });
    return ended == 0 ? 0 : 1;
  }
  if (how == "forks") {
    if (!rt.run(&is_forced)) return 1;
    const test::ending child = test::in_child([] {
      fj::runtime mine(test::with_procs(2));
      return mine.run(&is_forced) ? 0 : 1;
    });
    return child.code;
  }
  if (how == "many callers") {
    std::vector<std::thread> callers;
    std::atomic<int> right{0};
    for (int i = 0; i < 8; ++i)
      callers.emplace_back([&] {
        for (int k = 0; k < 100; ++k) right += rt.run([] { return fib(12); }) == 144;
      });
    for (std::thread& each : callers) each.join();
    return right == 800 ? 0 : 1;
  }
  if (how == "another signal") {
    struct sigaction urgent{}, other{};
    if (!rt.run(&is_forced) || sigaction(SIGURG, nullptr, &urgent) != 0 || sigaction(SIGUSR2, nullptr, &other) != 0)
      return 1;
    if (urgent.sa_handler != SIG_DFL || other.sa_handler == SIG_DFL) return 2;
    // A later runtime has the signal of the first one, whatever it asks for.
    fj::options later = test::with_procs(2);
    later.fence_signal = SIGURG;
    fj::runtime second(later);
    if (!second.run(&is_forced) || sigaction(SIGURG, nullptr, &urgent) != 0) return 3;
    return urgent.sa_handler == SIG_DFL ? 0 : 4;
  }
  return 100;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return program(argv[1]);
  test::verdict verdict;
  const test::fences by_signal(test::stealing::by_signal);
  for (const char* how : {"answers", "uses force", "handles it", "handles it with information", "in a sandbox",
                          "takes it away", "blocks it", "sleeps", "forks", "many callers"}) {
    const test::ending end = test::run_again({how});
    verdict.check(end.code == 0, std::string(how) + ": " + std::to_string(end.code) + ", " +
                                     std::to_string(end.signal) + " " + end.said);
  }
  const test::environment other("FORKJOIN_FENCE_SIGNAL", std::to_string(SIGUSR2).c_str());
  const test::ending end = test::run_again({"another signal"});
  verdict.check(end.code == 0, "another signal: " + std::to_string(end.code) + " " + end.said);
  return verdict.exit_code();
}
