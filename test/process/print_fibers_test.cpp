// What print_fibers and count_fibers say: of fibers that wait in each way, of many that wait alike, by a call and by a
// signal.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"
#include "test/waits.hpp"

namespace {

using namespace std::chrono_literals;

constexpr unsigned line_of_send = __LINE__ + 14, line_of_select = __LINE__ + 17;

std::string called_at(unsigned line) { return "print_fibers_test.cpp:" + std::to_string(line); }

// Until so many strands of `rt` have suspended.
void wait_for_suspensions(const fj::runtime& rt, unsigned long long n) {
  while (rt.stats().total().suspensions < n) std::this_thread::yield();
}

// One fiber in each kind of wait.
int each_kind() {
  fj::runtime rt(test::with_procs(2)), other(test::with_procs(1));
  fj::channel<int> full(0), empty(0);
  std::vector<fj::future<void>> all;
  all.push_back(rt.go([=] { full.send(1); }));  // line_of_send
  for (const auto make : test::ways_to_wait) all.push_back(rt.go([way = make()] { way.wait({}); }));
  all.push_back(rt.go([&] { fj::sleep_for(1h); }));
  all.push_back(rt.go([=] { fj::select(fj::on_receive(empty, [](auto) {})); }));  // line_of_select
  std::atomic<bool> runs_there{false};
  all.push_back(rt.go([&] {
    other.run([&] {
      runs_there = true;
      static_cast<void>(empty.receive());
    });
  }));
  wait_for_suspensions(rt, all.size());
  while (!runs_there) std::this_thread::yield();  // a wait is counted before it is shown
  fj::print_fibers();
  std::_Exit(0);
}

int a_thousand() {
  fj::runtime rt(test::with_procs(2));
  fj::channel<int> gate(0);
  std::vector<fj::future<void>> all;
  for (int i = 0; i < 1000; ++i)
    all.push_back(rt.go([=] {
      for (int v : gate) static_cast<void>(v);
    }));
  wait_for_suspensions(rt, 1000);
  // A wait is counted before it is shown: until the workers have nothing to do.
  for (std::uint64_t busy = ~std::uint64_t{0}; busy != rt.stats().total().busy_ns;) {
    busy = rt.stats().total().busy_ns;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  fj::print_fibers();
  const fj::fiber_counts before = fj::count_fibers();
  if (before.waiting != 1000 || before.all() != 1000) return 1;
  if (fj::describe_fibers().find("  1000 fibers (") == std::string::npos) return 2;
  gate.close();
  for (auto& one : all) one.get();
  while (fj::count_fibers().all() != 0) std::this_thread::yield();  // a fiber is counted until it has left its stack
  return 0;
}

int in_each_state() {
  fj::runtime rt(test::with_procs(1));
  fj::channel<int> gate(0);
  std::atomic<bool> end{false}, begun{false};
  auto waits = rt.go([=] { static_cast<void>(gate.receive()); });
  wait_for_suspensions(rt, 1);
  auto computes = rt.go([&] {
    begun = true;
    while (!end) {}
  });
  while (!begun) std::this_thread::yield();
  auto is_ready = rt.go([] {});
  const fj::fiber_counts counts = fj::count_fibers();
  end = true;
  gate.close();
  waits.get();
  computes.get();
  is_ready.get();
  return counts.running == 1 && counts.ready == 1 && counts.waiting == 1 ? 0 : 1;
}

// The signal comes while the only P computes, and the fiber goes on when the text has been written. Its number is 1, or
// 2 if the worker looked around before it found the fiber, and keeps a stack for what it may steal.
int by_signal(bool by_environment) {
  if (by_environment) setenv("FORKJOIN_SIGQUIT", "1", 1);
  std::FILE* const said = std::tmpfile();
  dup2(fileno(said), STDERR_FILENO);
  fj::runtime rt(test::with_procs(1));
  if (!by_environment && !fj::print_fibers_on()) return 1;
  const auto is_said = [&](const char* what) {
    char text[4096] = {};
    return pread(fileno(said), text, sizeof(text) - 1, 0) > 0 && std::strstr(text, what);
  };
  std::atomic<bool> begun{false};
  auto computes = rt.go([&] {
    begun = true;
    while (!is_said("P 0: runs fiber ")) {}
  });
  while (!begun) std::this_thread::yield();
  std::raise(SIGQUIT);
  computes.get();
  return 0;
}

}  // namespace

int main() {
  test::verdict all;
  const auto kinds = test::in_child(each_kind);
  std::vector<std::string> calls{"fj::sleep_until", "fj::runtime::run, of another runtime"};
  for (const auto make : test::ways_to_wait) calls.push_back(make().call + ", called by ");
  for (const std::string& what : calls) all.contains(kinds.said, ": wait in " + what, "kinds");
  all.contains(kinds.said, called_at(line_of_send), "kinds");
  all.contains(kinds.said, "a runtime with 2 P", "kinds");
  all.contains(kinds.said, "a runtime with 1 P", "kinds");
  all.contains(kinds.said, called_at(line_of_select), "kinds");
  all.contains(kinds.said, "  P 1: ", "kinds");

  const auto many = test::in_child(a_thousand);
  all.contains(many.said, "  1000 fibers (", "many");
  all.contains(many.said, ", ...): wait in fj::channel::receive, called by a_thousand::λ at ", "many");
  all.check(many.code == 0, "many");

  all.check(test::in_child(in_each_state).code == 0, "states");

  for (const bool by_environment : {false, true})
    all.check(test::in_child([=] { return by_signal(by_environment); }).code == 0, "signal");

  // The thread that prints stayed in the parent.
  const auto in_copy = test::in_child([] {
    fj::runtime rt(test::with_procs(1));
    rt.run([] {});
    if (!fj::print_fibers_on()) return 1;
    return test::in_child([] { return by_signal(false); }).code;
  });
  all.check(in_copy.code == 0, "signal after fork");
  return all.exit_code();
}
