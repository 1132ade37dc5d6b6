// What a runtime costs while it does nothing: with sleepers an hour away, or fibers that wait for descriptors, it uses no processor;
// one that only forks or sleeps has opened no descriptor; none has started a thread but its workers, and the monitor if it has
// fibers that may wait for a P.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/sockets.hpp"
#include "test/support.hpp"

namespace {

using namespace std::chrono_literals;

int fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

auto entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

std::int64_t cpu_time_us() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::int64_t{used.tv_sec} * 1'000'000 + used.tv_nsec / 1000;
}

void forks_only(test::verdict& verdict, unsigned procs) {
  const auto descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  fj::runtime rt(test::with_procs(procs));
  for (int i = 0; i < 20; ++i) verdict.check(rt.run([] { return fib(15); }) == 610, "fib");
  verdict.check(entries("/proc/self/fd") == descriptors, "forks opened a descriptor");
  const auto started = entries("/proc/self/task") - threads;
  // The caller works with one of the P. Tried with a monitor for each root: a thread too many with one P and with two.
  verdict.check(started < static_cast<std::ptrdiff_t>(procs), "forks started threads: " + std::to_string(started));
}

// The workers park some time after the last fiber has begun to wait. Of CPU time a busy machine takes none away; but how long that
// takes has no bound, so the quietest of some windows counts.
std::int64_t least_use_us() {
  std::int64_t least = 1'000'000;
  for (int window = 0; window < 20 && least > 500; ++window) {
    const std::int64_t before = cpu_time_us();
    std::this_thread::sleep_for(200ms);
    least = std::min(least, cpu_time_us() - before);
  }
  return least;
}

// Tried with a timekeeper that wakes each millisecond: 3.5 to 4.1 ms of CPU time in 200 ms.
void sleepers(test::verdict& verdict, unsigned procs) {
  const auto descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  fj::runtime rt(test::with_procs(procs));
  std::vector<fj::future<void>> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(rt.go([](fj::stop_token stop) {
      try {
        fj::sleep_for(1h, {.stop = &stop});
      } catch (const fj::cancelled&) {}
    }));
  }
  const std::int64_t least = least_use_us();
  verdict.check(least <= 500, "sleepers used " + std::to_string(least) + " us of CPU time in 200 ms");
  verdict.check(entries("/proc/self/fd") == descriptors, "sleepers opened a descriptor");
  const auto started = entries("/proc/self/task") - threads;
  verdict.check(started <= static_cast<std::ptrdiff_t>(procs) + 1,
                "sleepers started more than the monitor beside their workers: " + std::to_string(started));
  for (auto& each : all) each.request_stop();
  for (auto& each : all) each.get();
}

// Tried with an eventfd that its sleeper does not read: 22 ms of CPU time in 200 ms, on a busy machine.
void readers(test::verdict& verdict, unsigned procs) {
  const auto threads = entries("/proc/self/task");
  std::vector<test::pair_of_descriptors> pipes;
  for (int i = 0; i < 100; ++i) pipes.push_back(test::make_pipe());
  const auto descriptors = entries("/proc/self/fd");
  {
    fj::runtime rt(test::with_procs(procs));
    std::vector<fj::future<std::size_t>> all;
    for (const auto& each : pipes) {
      all.push_back(rt.go([&] {
        char byte;
        fj::read(each.first, &byte, 1);
        return fj::read(each.first, &byte, 1, {.until = std::chrono::steady_clock::now() + 1h});
      }));
    }
    for (const auto& each : pipes) fj::write(each.second, "x", 1);
    for (int i = 0; i < 5; ++i) {  // interrupts the sleep in the poller
      std::this_thread::sleep_for(2ms);
      rt.go([] {}).get();
    }
    const std::int64_t least = least_use_us();
    verdict.check(least <= 500, "readers used " + std::to_string(least) + " us of CPU time in 200 ms");
    verdict.check(entries("/proc/self/fd") == descriptors + 2, "readers opened more than an epoll and an eventfd");
    const auto started = entries("/proc/self/task") - threads;
    verdict.check(started <= static_cast<std::ptrdiff_t>(procs) + 1,
                  "readers started more than the monitor beside their workers: " + std::to_string(started));
    for (auto& each : pipes) each.second.close();
    for (auto& each : all) verdict.check(each.get() == 0, "the end of a pipe");
  }
  verdict.check(entries("/proc/self/fd") == descriptors - 100, "a runtime left descriptors open");
}

}  // namespace

int main() {
  test::verdict verdict;
  for (const unsigned procs : {1u, 2u, 8u}) {
    forks_only(verdict, procs);
    sleepers(verdict, procs);
    readers(verdict, procs);
  }
  return verdict.exit_code();
}
