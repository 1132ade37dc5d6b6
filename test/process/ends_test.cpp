// How runtimes and processes end while fibers sleep, block their threads or wait for descriptors, and what a call of
// fj::blocking must not do.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/sockets.hpp"
#include "test/support.hpp"

namespace {

using namespace std::chrono_literals;
using test::with_procs;

// Whether the system refuses memory to this thread.
thread_local bool refuses = false;

std::chrono::milliseconds cpu_time() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::milliseconds(std::int64_t{used.tv_sec} * 1000 + used.tv_nsec / 1'000'000);
}

int deep(int n) {
  volatile std::byte frame[1024];
  frame[0] = std::byte(n);
  return n == 0 ? 0 : deep(n - 1) + static_cast<int>(frame[0]);
}

void sleep_until_stopped(const fj::stop_token& stop) {
  try {
    fj::sleep_for(1h, {.stop = &stop});
  } catch (const fj::cancelled&) {}
}

// The process ends with fibers in the default runtime.

template <class Body>
int exit_with(Body body) {
  const fj::channel<int> begun(0);
  for (int i = 0; i < 4; ++i) {
    static_cast<void>(fj::go([=] {
      begun.send(1);
      body();
    }));
  }
  for (int i = 0; i < 4; ++i) static_cast<void>(begun.receive());
  std::this_thread::sleep_for(20ms);
  return 7;
}

int exit_with_sleepers() {
  return exit_with([] { fj::sleep_for(1h); });
}

int exit_with_blocked_calls() {
  return exit_with([] { fj::blocking([] { std::this_thread::sleep_for(1h); }); });
}

int exit_with_readers() {
  static const auto& pipe = *new auto(test::make_pipe());  // never closed: a close would wake the fibers
  return exit_with([] {
    char byte;
    fj::read(pipe.first, &byte, 1);
  });
}

// The runtime ends.

// A fiber that takes a token is asked to stop, another one is waited for, and the thread that waits uses no processor.
int runtime_with_sleepers(unsigned p) {
  bool ended = false;
  const auto before = cpu_time();
  {
    fj::runtime rt(with_procs(p));
    for (int i = 0; i < 10; ++i) static_cast<void>(rt.go(&sleep_until_stopped));
    static_cast<void>(rt.go([&] {
      fj::sleep_for(500ms);
      ended = true;
    }));
  }
  return !ended ? 1 : cpu_time() - before < 250ms ? 0 : 2;
}

int runtime_with_blocked_calls(unsigned p) {
  std::atomic<int> ended{0};
  {
    fj::runtime rt(with_procs(p));
    for (int i = 0; i < 8; ++i) {
      static_cast<void>(rt.go([&] {
        fj::blocking([] { std::this_thread::sleep_for(30ms); });
        ++ended;
      }));
    }
  }
  return ended == 8 ? 0 : 1;
}

// What waits for a descriptor with a token is cancelled, what has none is waited for; the descriptors stay open, and
// can be used.
int runtime_with_open_descriptors(unsigned p) {
  const auto pipe = test::make_pipe(), other = test::make_pipe();
  char byte = 'x';
  std::atomic<int> cancelled{0};
  std::atomic<std::size_t> got{0};
  std::thread writes;
  {
    fj::runtime rt(with_procs(p));
    static_cast<void>(rt.go([&](fj::stop_token stop) {
      try {
        char into;
        fj::read(pipe.first, &into, 1, {.stop = &stop});
      } catch (const fj::cancelled&) {
        ++cancelled;
      }
    }));
    static_cast<void>(rt.go([&] {
      char into;
      got = fj::read(other.first, &into, 1);
    }));
    writes = std::thread([&] {
      std::this_thread::sleep_for(50ms);
      fj::write(other.second, &byte, 1);
    });
  }
  writes.join();
  if (cancelled != 1 || got != 1) return 1;
  fj::write(pipe.second, &byte, 1);
  if (fj::read(pipe.first, &byte, 1) != 1) return 2;  // by a thread
  fj::runtime next(with_procs(p));
  auto reads = next.go([&] { return fj::read(pipe.first, &byte, 1); });
  fj::write(pipe.second, &byte, 1);
  return reads.get() == 1 ? 0 : 3;
}

// Tried with a list of the tokens in a std::vector: terminated by std::bad_alloc.
int runtime_without_memory(unsigned p) {
  std::optional<fj::runtime> rt(with_procs(p));
  for (int i = 0; i < 10; ++i) static_cast<void>(rt->go(&sleep_until_stopped));
  refuses = true;
  rt.reset();
  refuses = false;
  return 0;
}

// Calls of fj::blocking.

int overflow_in_go(unsigned p) {
  fj::runtime rt(with_procs(p));
  return rt.go([] { return fj::blocking([] { return deep(1'000'000); }); }).get();
}

int overflow_in_run(unsigned p) {
  fj::runtime rt(with_procs(p));
  return rt.run([] { return fj::blocking_now([] { return deep(100'000'000); }); });
}

int ends_its_own_runtime(unsigned p) {
  std::optional<fj::runtime> rt(with_procs(p));
  rt->go([&] { fj::blocking([&] { rt.reset(); }); }).get();
  return 0;
}

int ends_the_runtime_around(unsigned p) {
  std::optional<fj::runtime> rt(with_procs(p));
  fj::runtime other(with_procs(p));
  rt->run([&] { fj::blocking([&] { other.run([&] { fj::blocking([&] { rt.reset(); }); }); }); });
  return 0;
}

// fork(2) while other threads open and end runtimes, say what fibers do, and wait for descriptors.
// Tried without the handlers of fork(2), and with static variables that make themselves when they are first needed:
// hung.
int forks_amid_all(unsigned p) {
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const int errors = dup(STDERR_FILENO);
  dup2(nothing, STDERR_FILENO);
  std::atomic<bool> end{false};
  const auto pipe = test::make_pipe();
  std::vector<std::thread> others;
  others.emplace_back([&] {
    while (!end) fj::print_fibers();
  });
  others.emplace_back([&] {
    while (!end) {
      fj::runtime rt(with_procs(p));
      rt.run([&] {
        std::error_code ignored;
        fj::readable(pipe.first.native_handle(), ignored, {.until = std::chrono::steady_clock::now() + 10us});
      });
    }
  });
  int wrong = 0;
  for (int i = 0; i < 300 && wrong == 0; ++i) {
    const test::ending copy = test::in_child(
        [=] {
          fj::runtime rt(with_procs(p));
          const auto way = test::make_pipe();
          const bool right = rt.run([&] {
            fj::write(way.second, "x", 1);
            char byte;
            fj::readable(way.first.native_handle());
            return fj::read(way.first, &byte, 1) == 1;
          });
          fj::print_fibers();
          _exit(right ? 0 : 1);
          return 1;
        },
        60);
    wrong = copy.too_late ? 2 : copy.code;
  }
  end = true;
  for (auto& each : others) each.join();
  dup2(errors, STDERR_FILENO);
  return wrong;
}

int worker_hook_throws(unsigned p) {
  fj::options with = with_procs(p);
  with.on_worker_start = [](unsigned) { throw 1; };
  fj::runtime rt(with);
  rt.go([] {}).get();
  return 0;
}

}  // namespace

// Not inlined: g++ would see malloc and free in place of a pair of new and delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const got = refuses ? nullptr : std::malloc(size);
  if (!got) throw std::bad_alloc();
  return got;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

int main() {
  test::verdict verdict;
  const auto expect = [&](const std::string& name, int code, int signal, const char* says, const test::ending& end) {
    verdict.check(end.code == code && end.signal == signal, name + ": code " + std::to_string(end.code) + ", signal " +
                                                                std::to_string(end.signal) + ", said " + end.said);
    verdict.contains(end.said, says, name);
  };
  for (const char* stats : {"0", "1"}) {
    const test::environment print("FORKJOIN_STATS", stats);
    expect("exit with sleepers", 7, 0, "", test::in_child(&exit_with_sleepers));
    expect("exit with blocked calls", 7, 0, "", test::in_child(&exit_with_blocked_calls));
    expect("exit with readers", 7, 0, "", test::in_child(&exit_with_readers));
  }
  for (const unsigned p : {1u, 2u, 8u}) {
    const std::string with_p = " with P = " + std::to_string(p);
    const auto ends = [&](const char* name, int (*body)(unsigned)) {
      expect(name + with_p, 0, 0, "", test::in_child([=] { return body(p); }));
    };
    ends("end with sleepers", &runtime_with_sleepers);
    ends("end with blocked calls", &runtime_with_blocked_calls);
    ends("end with open descriptors", &runtime_with_open_descriptors);
    ends("end without memory", &runtime_without_memory);
    ends("fork amid all", &forks_amid_all);
    const auto aborts = [&](const char* name, int (*body)(unsigned), const char* says) {
      expect(name + with_p, -1, SIGABRT, says, test::in_child([=] { return body(p); }));
    };
    // Tried without a look at the calls of the thread: SIGSEGV, and hung.
    aborts("overflow in a blocking call", &overflow_in_go, "Raise fj::options::go_stack_size");
    aborts("overflow in a blocking call of a job", &overflow_in_run, "Raise fj::options::stack_size");
    aborts("own end", &ends_its_own_runtime, "destroyed by code that it waits for, in a call of fj::blocking");
    aborts("a worker hook that throws", &worker_hook_throws, "terminat");
    aborts("end around", &ends_the_runtime_around, "destroyed by code that it waits for");
  }
  return verdict.exit_code();
}
