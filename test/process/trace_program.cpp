// A program of everything that a trace tells. trace_program WORKLOAD PROCS; prints the counters that a trace must agree
// with, as JSON.
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "runtime/sched/scheduler.hpp"

namespace {

using namespace std::chrono_literals;

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

long fib_on_top(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join<fj::tasks>([n] { return fib_on_top(n - 1); }, [n] { return fib_on_top(n - 2); });
  return a + b;
}

void spin(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {}
}

void scopes(int depth) {
  if (depth == 0) return spin(20us);
  fj::scope s;
  for (int i = 0; i < 3; ++i) s.fork([depth] { scopes(depth - 1); });
  s.join();
}

void loops() {
  std::vector<long> numbers(200'000);
  fj::parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t i) { numbers[i] = static_cast<long>(i); });
  fj::fork_each(0, 40, [](int) { spin(50us); });
  fj::parallel_sort(numbers.begin(), numbers.end(), std::greater<>());
}

void talk() {
  fj::channel<int> c(2);
  fj::mutex guard;
  int sum = 0;
  auto sender = fj::go([&] {
    for (int i = 0; i < 200; ++i) c.send(i);
    c.close();
  });
  std::vector<fj::future<void>> readers;
  for (int r = 0; r < 3; ++r) {
    readers.push_back(fj::go([&] {
      while (const auto got = c.receive()) {
        const std::lock_guard lock(guard);
        sum += *got;
      }
    }));
  }
  for (auto& reader : readers) reader.get();
  sender.get();
  if (sum != 199 * 100) std::abort();
}

void waits() {
  fj::sleep_for(2ms);
  fj::blocking([] { std::this_thread::sleep_for(3ms); });
  fj::blocking_now([] { std::this_thread::sleep_for(1ms); });
  fj::yield();
  fj::trace_name("waits");
  fj::trace_mark("half past");
  fj::trace_mark({});
}

// The last call returns once thieves have run the branches of all others. The owner makes one or two of them public
// while it forks.
void hide(int depth, std::atomic<int>& left) {
  if (depth == 0) {
    while (left.load() > 0) {}
    return;
  }
  fj::fork_join([&, depth] { hide(depth - 1, left); },
                [&] {
                  spin(100us);
                  --left;
                });
}

struct forked_by_scope {
  void operator()() const { spin(20us); }
};
struct kept_by_scope : forked_by_scope {};
struct run_by_group : forked_by_scope {};
struct begun_by_go : forked_by_scope {};
struct second_branch : forked_by_scope {};
struct iteration_of_loop {
  void operator()(int) const { spin(20us); }
};

void name_all() {
  fj::trace_name("another");
  fj::trace_name({});  // names of nothing
  fj::trace_name("");
  fj::scope s;
  fj::basic_scope<fj::tasks> kept;
  fj::task_group group;
  for (int i = 0; i < 5; ++i) {
    s.fork(forked_by_scope());
    kept.fork(kept_by_scope());
    group.run(run_by_group());
  }
  group.wait();
  kept.join();
  s.join();
  fj::go(begun_by_go()).get();
  fj::fork_join(begun_by_go(), second_branch());
  fj::fork_each(0, 5, iteration_of_loop());
  fj::parallel_for(0, 5, [](int) { spin(20us); }, {.grain = 1});
}

void job(const char* what) {
  const auto is = [what](const char* name) { return std::strcmp(what, name) == 0 || std::strcmp(what, "all") == 0; };
  if (is("fib")) fib(24);
  if (is("tasks")) fib_on_top(20);
  if (is("scope")) scopes(5);
  if (is("loops")) loops();
  if (is("talk")) talk();
  if (is("waits")) fj::fork_join([] { waits(); }, [] { waits(); });
  if (std::strcmp(what, "names") == 0) name_all();
  if (std::strcmp(what, "short loops") == 0) {
    std::vector<double> x(400, 1.0);
    for (int i = 0; i != 30'000; ++i) {
      if (i % 300 == 0) fj::fork_join([] {}, [] {});  // the loops wake no worker, and one that sleeps sees none
      fj::parallel_for(x, [](double& each) { each = each * 0.999 + 0.1; });
    }
  }
  if (std::strcmp(what, "one strand") == 0) spin(100ms);
  if (std::strcmp(what, "private") == 0) {
    std::atomic<int> left{8};
    hide(8, left);
  }
  if (std::strcmp(what, "crash") == 0) {
    fib(22);
    std::abort();
  }
}

void one_fiber(fj::runtime& rt) {
  rt.go([] { spin(50ms); }).get();
}

// The first call ends while the second one goes on.
void two_calls(fj::runtime& rt) {
  std::thread first([&] { rt.run([] { spin(50ms); }); });
  std::this_thread::sleep_for(20ms);
  rt.run([] { spin(80ms); });
  first.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  fj::runtime rt({.procs = static_cast<unsigned>(std::atoi(argv[2]))});
  if (const bool overlap = !std::strcmp(argv[1], "overlap"); overlap || !std::strcmp(argv[1], "fiber")) {
    overlap ? two_calls(rt) : one_fiber(rt);
    std::this_thread::sleep_for(300ms);  // no work
    return 0;
  }
  fj::detail::scheduler* inside = nullptr;
  for (int i = 0; i < 3; ++i)
    rt.run([&] {
      inside = fj::detail::current_scheduler();
      job(argv[1]);
    });
  // Until no thread holds a P: what comes after this is in the trace, and not in the counters. On a busy machine a
  // thread that was woken may hold its P for long before it runs, and then it parks; meanwhile no counter changes.
  // (Tried with a wait until the counters had stood still for 100 ms, and a worker that sleeps for 300 ms as it starts:
  // the trace has one park more.)
  while (!inside->dispatcher().all_idle()) std::this_thread::sleep_for(1ms);
  const fj::counters all = rt.stats().total();
  const auto n = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "{\"steal\": %llu, \"wait\": %llu, \"publish\": %llu, \"expose\": %llu, \"park\": %llu, \"wake\": %llu, "
      "\"block\": %llu, "
      "\"retake\": %llu, \"preempt\": %llu}\n",
      n(all.steals), n(all.suspensions), n(all.publications), n(all.exposures), n(all.parks), n(all.wakeups),
      n(all.blocking_calls), n(all.retakes), n(all.preemptions));
}
