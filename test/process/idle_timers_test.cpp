// What a runtime costs while it does nothing: with sleepers an hour away, or fibers that wait for descriptors, it uses
// no processor, and none of its threads is woken; one that only forks or sleeps has opened no descriptor; none has
// started a thread but its workers, and the monitor if it has fibers that may wait for a P.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
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

// How often each thread but those of `others` has left a processor, by number of the thread: as often as it has been
// woken, or more.
using switches = std::map<long, std::uint64_t>;

switches switches_of_threads(const switches& others = {}) {
  switches found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const long thread = std::stol(entry.path().filename());
    if (others.contains(thread)) continue;
    std::ifstream status(entry.path() / "status");
    for (std::string word; status >> word;) {
      std::uint64_t count = 0;
      if (word.ends_with("voluntary_ctxt_switches:") && status >> count) found[thread] += count;
    }
  }
  return found;
}

// The workers park some time after the last fiber has begun to wait. How long that takes has no bound, so one window of
// some is enough in which no thread is woken, and none uses CPU time either: a thread that spins is never woken. A busy
// machine adds to neither. Tried with a timekeeper that wakes each 100 ms: 3 wake-ups, and no more than 180 us of CPU
// time; and with a monitor that does not rest: 30 wake-ups.
void check_quiet(test::verdict& verdict, const std::string& what, const switches& others) {
  std::string seen;
  for (int window = 0; window < 20; ++window) {
    const switches before = switches_of_threads(others);
    const std::int64_t used_before = cpu_time_us();
    std::this_thread::sleep_for(300ms);
    const std::int64_t used = cpu_time_us() - used_before;
    std::uint64_t wake_ups = 0;
    const switches after = switches_of_threads(others);
    for (const auto& [thread, count] : after) wake_ups += count - (before.contains(thread) ? before.at(thread) : 0);
    if (wake_ups == 0 && used <= 500 && after.size() == before.size()) return;
    seen = std::to_string(wake_ups) + " wake-ups and " + std::to_string(used) + " us of CPU time";
  }
  verdict.check(false, what + " had in 300 ms " + seen);
}

void forks_only(test::verdict& verdict, unsigned procs) {
  const switches others = switches_of_threads();
  const auto descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  fj::runtime rt(test::with_procs(procs));
  for (int i = 0; i < 20; ++i) verdict.check(rt.run([] { return fib(15); }) == 610, "fib");
  verdict.check(entries("/proc/self/fd") == descriptors, "forks opened a descriptor");
  const auto started = entries("/proc/self/task") - threads;
  // The caller works with one of the P. Tried with a monitor for each job: a thread too many with one P and with two.
  verdict.check(started < static_cast<std::ptrdiff_t>(procs), "forks started threads: " + std::to_string(started));
  check_quiet(verdict, "a runtime that only forks", others);
}

void sleepers(test::verdict& verdict, unsigned procs) {
  const switches others = switches_of_threads();
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
  check_quiet(verdict, "sleepers", others);
  verdict.check(entries("/proc/self/fd") == descriptors, "sleepers opened a descriptor");
  const auto started = entries("/proc/self/task") - threads;
  verdict.check(started <= static_cast<std::ptrdiff_t>(procs) + 1,
                "sleepers started more than the monitor beside their workers: " + std::to_string(started));
  for (auto& each : all) each.request_stop();
  for (auto& each : all) each.get();
}

void readers(test::verdict& verdict, unsigned procs) {
  const switches others = switches_of_threads();
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
    check_quiet(verdict, "readers", others);
    verdict.check(entries("/proc/self/fd") == descriptors + 3, "readers opened more than an epoll and two eventfds");
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
  std::thread([] {}).join();  // ThreadSanitizer starts its own with the first
  test::verdict verdict;
  for (const unsigned procs : {1u, 2u, 8u}) {
    forks_only(verdict, procs);
    sleepers(verdict, procs);
    readers(verdict, procs);
  }
  return verdict.exit_code();
}
