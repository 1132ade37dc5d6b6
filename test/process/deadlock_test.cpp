// Programs that stand still for good say where each fiber waits, and abort; those that only seem to stand still go on.

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if __has_include(<boost/asio/async_result.hpp>)
#include "forkjoin/asio.hpp"
#endif
#include "forkjoin/execution.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/sockets.hpp"
#include "test/support.hpp"
#include "test/waits.hpp"

namespace {

using namespace std::chrono_literals;

using test::with_procs;
using channel = fj::channel<int>;

constexpr auto rest = [](auto time) { std::this_thread::sleep_for(time); };

// Until a thread that waits has looked at the others at least once.
constexpr auto longer_than_a_look = 250ms;

void wait_in(int depth, const channel& c) {
  if (depth == 0) return static_cast<void>(c.receive());
  fj::fork_join([&] { wait_in(depth - 1, c); }, [&] { wait_in(depth - 1, c); });
}

// Each of these stands still.

int main_receives(unsigned p) {
  fj::runtime rt(with_procs(p));
  return rt.run([] { return channel(0).receive().value_or(0); });
}

int future_never_ready(unsigned p) {
  fj::runtime rt(with_procs(p));
  return rt.go([] { return channel(1).receive().value_or(0); }).get();
}

// A fiber in each, and no strand that opens.
int each_way_to_wait(unsigned p) {
  fj::runtime rt(with_procs(p));
  std::vector<fj::future<void>> all;
  for (const auto make : test::ways_to_wait) all.push_back(rt.go([way = make()] { way.wait({}); }));
  for (auto& each : all) each.get();
  return 0;
}

// With an fj::future, a mutex each, and the next one's mutex.
int sender_never_completes(unsigned p) {
  fj::runtime rt(with_procs(p));
  const channel c(0);
  return rt.run([&] {
    return fj::wait(stdexec::schedule(rt.scheduler()) | stdexec::then([=] { return c.receive().value_or(1); }));
  });
}

int ring_of_mutexes(unsigned p) {
  constexpr std::size_t n = 5;
  fj::runtime rt(with_procs(p));
  std::vector<fj::mutex> ring(n);
  fj::wait_group all_hold;
  all_hold.add(n);
  std::vector<fj::future<void>> all;
  for (std::size_t i = 0; i < n; ++i) {
    all.push_back(rt.go([&, i] {
      const std::scoped_lock mine(ring[i]);
      all_hold.done();
      all_hold.wait();
      const std::scoped_lock next(ring[(i + 1) % n]);
    }));
  }
  for (auto& each : all) each.get();
  return 0;
}

int fork_tree(unsigned p) {
  fj::runtime rt(with_procs(p));
  rt.run([] { wait_in(4, channel(0)); });
  return 0;
}

int two_runtimes(unsigned p) {
  fj::runtime one(with_procs(p)), other(with_procs(p));
  const channel to_one(0), to_other(0);
  auto a = one.go([=] {
    static_cast<void>(to_one.receive());
    to_other.send(1);
  });
  auto b = other.go([=] {
    static_cast<void>(to_other.receive());
    to_one.send(1);
  });
  a.get();
  return 0;
}

int thread_waits_too(unsigned p) {
  fj::runtime rt(with_procs(p));
  const channel c(0);
  std::thread outside([=] { static_cast<void>(c.receive()); });
  rt.run([&] { static_cast<void>(c.receive()); });
  outside.join();
  return 0;
}

int end_of_runtime(unsigned p) {
  fj::runtime rt(with_procs(p));
  static_cast<void>(rt.go([] { static_cast<void>(channel(0).receive()); }));
  return 0;
}

// A strand ends another runtime, whose fiber waits for good. Tried with a strand that keeps its P meanwhile: the report
// says that it runs.
int end_of_runtime_in_fiber(unsigned p) {
  fj::runtime rt(with_procs(p));
  rt.run([] {
    fj::runtime inner(with_procs(1));
    static_cast<void>(inner.go([] { static_cast<void>(channel(0).receive()); }));
  });
  return 0;
}

// The worker that would wake for the timer sleeps on; a waiting thread wakes it once more.
int timer_that_was_stopped(unsigned p) {
  fj::runtime rt(with_procs(p));
  const channel c(0);
  auto sleeper = rt.go([](fj::stop_token stop) {
    try {
      fj::sleep_for(1h, {.stop = &stop});
    } catch (const fj::cancelled&) {}
  });
  auto waits = rt.go([=] { static_cast<void>(c.receive()); });
  rest(20ms);
  sleeper.request_stop();
  waits.get();
  return 0;
}

int after_a_sleep_and_a_read(unsigned p) {
  fj::runtime rt(with_procs(p));
  auto pipe = test::make_pipe();
  rt.run([&] {
    fj::sleep_for(longer_than_a_look);
    fj::fork_join(
        [&] {
          char byte;
          fj::read(pipe.first, &byte, 1);
        },
        [&] { fj::write(pipe.second, "x", 1); });
    static_cast<void>(channel(0).receive());
  });
  return 0;
}

// In f the thread is outside.
int in_a_blocking_call(unsigned p) {
  fj::runtime rt(with_procs(p));
  rt.run([&] { fj::blocking_now([] { static_cast<void>(channel(0).receive()); }); });
  return 0;
}

int thread_ends(unsigned p) {
  fj::runtime rt(with_procs(p));
  std::thread unknown([] { rest(longer_than_a_look); });
  unknown.detach();
  return rt.run([] { return channel(0).receive().value_or(0); });
}

int with_thread_for_signals(unsigned p) {
  if (!fj::print_fibers_on(SIGQUIT)) return 1;
  return main_receives(p);
}

// The parent process has a thread in a wait, which the child process has not.
int copy_of_a_process(unsigned p) {
  fj::runtime rt(with_procs(p));
  const channel c(0);
  std::thread waits([=] { static_cast<void>(c.receive()); });
  rest(longer_than_a_look);
  const test::ending end = test::in_child([=] { return main_receives(p); }, 60);
  c.close();
  waits.join();
  if (end.said.find("forkjoin: deadlock") != std::string::npos) std::raise(end.signal);
  return 1;
}

// Each of these goes on, after a time in which a look finds every fiber waiting.

int time_pending(unsigned p) {
  fj::runtime rt(with_procs(p));
  const channel c(0);
  auto sends = rt.go([=] {
    fj::sleep_for(2 * longer_than_a_look);
    c.send(0);
  });
  return rt.run([&] { return c.receive().value_or(1); });
}

int descriptor_pending(unsigned p) {
  auto pipe = test::make_pipe();
  if (fork() == 0) {
    rest(2 * longer_than_a_look);
    _exit(write(pipe.second.native_handle(), "x", 1) == 1 ? 0 : 1);
  }
  fj::runtime rt(with_procs(p));
  char byte;
  return rt.run([&] { return fj::read(pipe.first, &byte, 1); }) == 1 ? 0 : 1;
}

int thread_reads(unsigned p) {
  auto pipe = test::make_pipe();
  if (fork() == 0) {
    rest(2 * longer_than_a_look);
    _exit(write(pipe.second.native_handle(), "x", 1) == 1 ? 0 : 1);
  }
  fj::runtime rt(with_procs(p));
  const channel c(0);
  std::thread reads([&] {
    char byte;
    fj::read(pipe.first, &byte, 1);
    c.send(0);
  });
  const int got = rt.run([&] { return c.receive().value_or(1); });
  reads.join();
  return got;
}

int blocking_call(unsigned p) {
  fj::runtime rt(with_procs(p));
  const channel c(0);
  auto sends = rt.go([=] {
    fj::blocking([] { rest(2 * longer_than_a_look); });
    c.send(0);
  });
  return rt.run([&] { return c.receive().value_or(1); });
}

int thread_waits_for_a_time(unsigned p) {
  fj::runtime rt(with_procs(p));
  const channel c(0), never(0);
  std::thread sends([=] {
    try {
      static_cast<void>(never.receive({.until = std::chrono::steady_clock::now() + 2 * longer_than_a_look}));
    } catch (const fj::timed_out&) {}
    c.send(0);
  });
  const int got = rt.run([&] { return c.receive().value_or(1); });
  sends.join();
  return got;
}

// A look comes while main has not begun to wait.
int main_comes_late(unsigned p) {
  fj::runtime rt(with_procs(p));
  const channel c(0);
  auto waits = rt.go([=] { return c.receive().value_or(1); });
  rest(2 * longer_than_a_look);
  c.send(0);
  return waits.get();
}

int unknown_thread_sends(unsigned p, std::chrono::milliseconds after) {
  fj::runtime rt(with_procs(p));
  const channel c(0);
  std::thread sends([=] {
    for (int i = 0; i < 2; ++i) {
      rest(after);
      c.send(0);
    }
  });
  int got = 0;
  for (int i = 0; i < 2; ++i) got += rt.run([&] { return c.receive().value_or(1); });
  sends.join();
  return got;
}

#if __has_include(<boost/asio/async_result.hpp>)
// As by Boost.Asio without a client, for longer than any standstill is: a thread that no runtime knows ends the wait.
int wait_for_client() {
  std::thread io;
  boost::asio::async_initiate<const fj::use_fiber_t, void()>(
      [&](auto handler) {
        io = std::thread([end = std::move(handler)]() mutable {
          rest(3s);
          end();
        });
      },
      fj::use_fiber);
  io.join();
  return 0;
}
#else
int wait_for_client() { return 0; }
#endif

int idle_server(unsigned p) {
  fj::runtime rt(with_procs(p));
  const channel c(0);
  auto server = rt.go([=] { c.send(wait_for_client()); });
  return rt.run([&] { return c.receive().value_or(1); });
}

int idle_thread(unsigned p) {
  fj::runtime rt(with_procs(p));
  return wait_for_client();
}

int handler_ends(unsigned p) {
  std::signal(SIGALRM, [](int) { std::_Exit(0); });
  alarm(1);
  return main_receives(p);
}

// For processes that are to hang.
int until_killed(unsigned p) {
  alarm(1);
  return main_receives(p);
}

int without_proc(unsigned p, const char* empty_folder) {
  if (chroot(empty_folder) != 0 || chdir("/") != 0) raise(SIGALRM);  // not allowed, so not tested
  return until_killed(p);
}

struct test_case {
  const char* name;
  int (*body)(unsigned);
  std::vector<std::string> says;
};

// All at once, since each process does little but wait.
std::vector<test::ending> endings(const std::vector<test_case>& cases, unsigned p) {
  std::vector<test::ending> all(cases.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < cases.size(); ++i)
    threads.emplace_back([&, i] { all[i] = test::in_child([&] { return cases[i].body(p); }); });
  for (std::thread& each : threads) each.join();
  return all;
}

}  // namespace

int main() {
  test::verdict verdict;
  // Tried without a look at the number of threads: "unknown thread", "thread reads", "thread waits for a time" and
  // "blocking call" aborted; without one at handlers: "handler" aborted; at timers: "time" aborted; without a signal to
  // the worker that sleeps until a timer that is no more: "stopped timer" hung; with the parent's list of threads:
  // "copy of a process" hung; without a look at the waits that others end: "idle server" and "idle thread" said that
  // they stand still.
  std::vector<std::string> calls;
  for (const auto make : test::ways_to_wait) calls.push_back(make().call);
  const std::vector<test_case> standstills{
      {"main receives",
       &main_receives,
       {"fj::channel::receive, called by main_receives::λ at ", "deadlock_test.cpp:", "run"}},
      {"future",
       &future_never_ready,
       {"fj::channel::receive, called by future_never_ready::λ at ",
        "a thread outside of any runtime: wait in fj::future"}},
      {"each way to wait", &each_way_to_wait, calls},
      {"a sender",
       &sender_never_completes,
       {"fj::wait, called by sender_never_completes::λ at ", "fj::channel::receive"}},
      {"ring of mutexes", &ring_of_mutexes, {"fj::mutex::lock"}},
      {"fork tree", &fork_tree, {"16 fibers (", "fj::channel::receive"}},
      {"two runtimes", &two_runtimes, {"  1 fiber (", "): wait in fj::channel::receive", "wait in fj::future::wait"}},
      {"thread waits, too", &thread_waits_too, {"a thread outside of any runtime: wait in fj::channel::receive"}},
      {"end of a runtime", &end_of_runtime, {"wait in the destructor of fj::runtime"}},
      {"end of a runtime in a fiber",
       &end_of_runtime_in_fiber,
       {"wait in the destructor of fj::runtime", "makes a blocking call", "fj::channel::receive"}},
      {"stopped timer", &timer_that_was_stopped, {"fj::channel::receive"}},
      {"after a sleep and a read", &after_a_sleep_and_a_read, {"fj::channel::receive"}},
      {"in a blocking call", &in_a_blocking_call, {"makes a blocking call", "a thread outside of any runtime"}},
      {"the thread has ended", &thread_ends, {"fj::channel::receive"}},
      {"thread for signals", &with_thread_for_signals, {"fj::channel::receive"}},
      {"copy of a process", &copy_of_a_process, {}},
  };
  const std::vector<test_case> others{
      {"time", &time_pending, {}},
      {"descriptor", &descriptor_pending, {}},
      {"thread reads", &thread_reads, {}},
      {"blocking call", &blocking_call, {}},
      {"thread waits for a time", &thread_waits_for_a_time, {}},
      {"main comes late", &main_comes_late, {}},
      {"unknown thread", [](unsigned p) { return unknown_thread_sends(p, 2 * longer_than_a_look); }, {}},
      {"idle server", &idle_server, {}},
      {"idle thread", &idle_thread, {}},
      {"handler", &handler_ends, {}},
  };
  for (const unsigned p : {1u, 2u, 8u}) {
    const std::string with_p = " with P = " + std::to_string(p);
    const auto stood = endings(standstills, p), went_on = endings(others, p);
    for (std::size_t i = 0; i < standstills.size(); ++i) {
      const test_case& each = standstills[i];
      const test::ending& end = stood[i];
      const std::string name = each.name + with_p;
      verdict.check(end.signal == SIGABRT, name + ": code " + std::to_string(end.code) + ", signal " +
                                               std::to_string(end.signal) + ", said " + end.said);
      if (!each.says.empty()) verdict.contains(end.said, "forkjoin: deadlock: every fiber waits", name);
      for (const std::string& what : each.says) verdict.contains(end.said, what, name);
    }
    for (std::size_t i = 0; i < others.size(); ++i) {
      const test::ending& end = went_on[i];
      verdict.check(end.code == 0 && end.said.empty(), others[i].name + with_p + ": code " + std::to_string(end.code) +
                                                           ", signal " + std::to_string(end.signal) + ", said " +
                                                           end.said);
    }
  }
  const test::ending slow = test::in_child([] { return unknown_thread_sends(2, 1800ms); });
  verdict.check(slow.code == 0, "a thread that lets the program wait: code " + std::to_string(slow.code));
  const char* const said = "only a thread that no runtime knows";
  verdict.contains(slow.said, said, "a thread that lets the program wait");
  verdict.check(slow.said.find(said) == slow.said.rfind(said), "said once: " + slow.said);

  char empty[] = "/tmp/forkjoin_deadlock_XXXXXX";
  verdict.check(mkdtemp(empty), "no folder");
  verdict.check(test::in_child([&] { return without_proc(2, empty); }).signal == SIGALRM, "without /proc");
  rmdir(empty);
  const test::environment off("FORKJOIN_DEADLOCK", "0");
  const test::ending quiet = test::in_child([] { return until_killed(2); });
  verdict.check(quiet.signal == SIGALRM && quiet.said.empty(), "switched off: " + quiet.said);
  return verdict.exit_code();
}
