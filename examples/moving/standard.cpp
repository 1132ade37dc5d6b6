// From the standard library: each row of the table in forkjoin/guide/moving.md, both ways.

// libstdc++'s stable_sort uses a function that it calls deprecated, and clang warns its users.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <execution>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <numeric>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "examples/moving/rows.hpp"

namespace {

using namespace std::chrono_literals;

long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
long sum_of(const std::vector<long>& all) { return std::accumulate(all.begin(), all.end(), 0L); }
std::vector<long> numbers() {
  std::vector<long> all(1'000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<long>(i * 7'919 % 1'009);
  return all;
}
bool is_even(long x) { return x % 2 == 0; }
bool by_last_digit(long a, long b) { return a % 10 < b % 10; }

namespace async {
long theirs() {
  std::future<long> a = std::async(std::launch::async, [] { return fib(10); });
  const long b = fib(11);
  return a.get() + b;
}
long ours() {
  auto [a, b] = fj::fork_join([] { return fib(10); }, [] { return fib(11); });
  return a + b;
}
}  // namespace async

namespace futures {
long theirs() {
  std::vector<std::future<long>> all;
  for (int i = 0; i < 10; ++i) all.push_back(std::async(std::launch::async, [i] { return fib(i); }));
  long sum = 0;
  for (auto& each : all) sum += each.get();
  return sum;
}
long ours() {
  return fj::fork_reduce(0, 10, 0L, std::plus<>(), [](int i) { return fib(i); });
}
}  // namespace futures

namespace deferred {
long theirs() {
  std::future<long> later = std::async(std::launch::deferred, [] { return fib(10); });
  return later.get();
}
long ours() {
  const auto later = [] { return fib(10); };
  return later();
}
}  // namespace deferred

namespace promise {
long theirs() {
  std::promise<long> given;
  std::future<long> waits = given.get_future();
  const std::jthread outside([&] { given.set_value(42); });
  return waits.get();
}
long ours() {
  fj::promise<long> given;
  fj::future<long> waits = given.get_future();
  const std::jthread outside([&] { given.set_value(42); });
  return waits.get();
}
}  // namespace promise

namespace jthread {
long theirs() {
  long rounds = 0;
  {
    std::jthread counts([&](std::stop_token stop) {
      do ++rounds;
      while (!stop.stop_requested());
    });
  }
  return rounds > 0;
}
long ours() {
  long rounds = 0;
  auto counts = fj::go([&](fj::stop_token stop) {
    do ++rounds, fj::yield();
    while (!stop.stop_requested());
  });
  counts.request_stop();
  counts.get();
  return rounds > 0;
}
}  // namespace jthread

namespace sleep {
long theirs() {
  std::this_thread::sleep_for(1ms);
  return 1;
}
long ours() {
  fj::sleep_for(1ms);
  return 1;
}
}  // namespace sleep

namespace condition {
long theirs() {
  std::mutex guard;
  std::condition_variable changed;
  bool ready = false;
  const std::jthread gives([&] {
    const std::scoped_lock lock(guard);
    ready = true;
    changed.notify_one();
  });
  std::unique_lock lock(guard);
  changed.wait(lock, [&] { return ready; });
  return ready;
}
long ours() {
  fj::mutex guard;
  fj::condition_variable changed;
  bool ready = false;
  auto gives = fj::go([&] {
    const std::scoped_lock lock(guard);
    ready = true;
    changed.notify_one();
  });
  std::unique_lock lock(guard);
  changed.wait(lock, [&] { return ready; });
  lock.unlock();
  gives.get();
  return ready;
}
}  // namespace condition

namespace shared_mutex {
long theirs() {
  std::shared_mutex guard;
  const std::shared_lock one(guard), other(guard);
  return one.owns_lock() && other.owns_lock();
}
long ours() {
  fj::shared_mutex guard;
  const std::shared_lock one(guard), other(guard);
  return one.owns_lock() && other.owns_lock();
}
}  // namespace shared_mutex

namespace semaphore {
long theirs() {
  std::counting_semaphore<> permits(1);
  permits.acquire();
  return permits.try_acquire_for(1ms);
}
long ours() {
  fj::semaphore permits(1);
  permits.acquire();
  return permits.try_acquire_for(1ms);
}
}  // namespace semaphore

namespace latch {
long theirs() {
  std::latch left(2);
  std::atomic<long> done = 0;
  const auto part = [&] { ++done, left.count_down(); };
  const std::jthread a(part), b(part);
  left.wait();
  return done;
}
long ours() {
  fj::latch left(2);
  std::atomic<long> done = 0;
  const auto part = [&] { ++done, left.count_down(); };
  auto a = fj::go(part), b = fj::go(part);
  left.wait();
  a.get(), b.get();
  return done;
}
}  // namespace latch

namespace barrier {
long theirs() {
  std::barrier both(2);
  std::atomic<long> first = 0, second = 0;
  const auto part = [&] {
    ++first;
    both.arrive_and_wait();
    second += first;
  };
  { const std::jthread a(part), b(part); }
  return second;
}
long ours() {
  fj::barrier both(2);
  std::atomic<long> first = 0, second = 0;
  const auto part = [&] {
    ++first;
    both.arrive_and_wait();
    second += first;
  };
  auto a = fj::go(part), b = fj::go(part);
  a.get(), b.get();
  return second;
}
}  // namespace barrier

namespace once {
long theirs() {
  std::once_flag first;
  long calls = 0;
  for (int i = 0; i < 3; ++i) std::call_once(first, [&] { ++calls; });
  return calls;
}
long ours() {
  fj::once first;
  long calls = 0;
  for (int i = 0; i < 3; ++i) first.call([&] { ++calls; });
  return calls;
}
}  // namespace once

// A counter of its own for each thread, or fiber.
namespace own_value {
long theirs() {
  static thread_local long mine = 0;
  long seen = 0;
  for (int i = 0; i < 2; ++i) std::jthread([&] { seen += ++mine; }).join();
  return seen;
}
long ours() {
  static fj::local<long> mine;
  long seen = 0;
  for (int i = 0; i < 2; ++i) fj::go([&] { seen += ++*mine; }).get();
  return seen;
}
}  // namespace own_value

namespace hardware {
long theirs() { return std::thread::hardware_concurrency() > 0; }
long ours() { return fj::procs() > 0; }
}  // namespace hardware

namespace for_each {
long theirs() {
  std::vector<long> all = numbers();
  std::for_each(std::execution::par, all.begin(), all.end(), [](long& each) { ++each; });
  return sum_of(all);
}
long ours() {
  std::vector<long> all = numbers();
  fj::parallel_for(all.begin(), all.end(), [](long& each) { ++each; });
  return sum_of(all);
}
}  // namespace for_each

namespace transform {
long theirs() {
  const std::vector<long> all = numbers();
  std::vector<long> out(all.size());
  std::transform(std::execution::par, all.begin(), all.end(), out.begin(), [](long x) { return x * 2; });
  return sum_of(out);
}
long ours() {
  const std::vector<long> all = numbers();
  std::vector<long> out(all.size());
  fj::parallel_transform(all.begin(), all.end(), out.begin(), [](long x) { return x * 2; });
  return sum_of(out);
}
}  // namespace transform

namespace reduce {
long theirs() {
  const std::vector<long> all = numbers();
  return std::reduce(std::execution::par, all.begin(), all.end(), 0L);
}
long ours() {
  const std::vector<long> all = numbers();
  return fj::parallel_reduce(all.begin(), all.end(), 0L, std::plus<>());
}
}  // namespace reduce

namespace transform_reduce {
long theirs() {
  const std::vector<long> all = numbers();
  return std::transform_reduce(std::execution::par, all.begin(), all.end(), all.begin(), 0L);
}
long ours() {
  const std::vector<long> all = numbers();
  return fj::parallel_transform_reduce(all.begin(), all.end(), all.begin(), 0L, std::plus<>(), std::multiplies<>());
}
}  // namespace transform_reduce

namespace count_if {
long theirs() {
  const std::vector<long> all = numbers();
  return std::count_if(std::execution::par, all.begin(), all.end(), &is_even);
}
long ours() {
  const std::vector<long> all = numbers();
  return fj::parallel_transform_reduce(all.begin(), all.end(), 0L, std::plus<>(),
                                       [](long x) { return is_even(x) ? 1L : 0L; });
}
}  // namespace count_if

namespace max_element {
long theirs() {
  const std::vector<long> all = numbers();
  return *std::max_element(std::execution::par, all.begin(), all.end());
}
long ours() {
  const std::vector<long> all = numbers();
  return fj::parallel_reduce(all, all[0], [](long a, long b) { return std::max(a, b); });
}
}  // namespace max_element

namespace scan {
long theirs() {
  const std::vector<long> all = numbers();
  std::vector<long> sums(all.size());
  std::exclusive_scan(std::execution::par, all.begin(), all.end(), sums.begin(), 0L);
  std::inclusive_scan(std::execution::par, sums.begin(), sums.end(), sums.begin());
  return sum_of(sums);
}
long ours() {
  const std::vector<long> all = numbers();
  std::vector<long> sums(all.size());
  fj::parallel_exclusive_scan(all.begin(), all.end(), sums.begin(), 0L);
  fj::parallel_inclusive_scan(sums.begin(), sums.end(), sums.begin());
  return sum_of(sums);
}
}  // namespace scan

namespace sort {
long theirs() {
  std::vector<long> all = numbers();
  std::sort(std::execution::par, all.begin(), all.end(), std::greater<>());
  std::stable_sort(std::execution::par, all.begin(), all.end(), by_last_digit);
  return all[10];
}
long ours() {
  std::vector<long> all = numbers();
  fj::parallel_sort(all.begin(), all.end(), std::greater<>());
  fj::parallel_stable_sort(all.begin(), all.end(), by_last_digit);
  return all[10];
}
}  // namespace sort

namespace merge {
long theirs() {
  const std::vector<long> a{1, 3, 5}, b{2, 4, 6};
  std::vector<long> both(6);
  std::merge(std::execution::par, a.begin(), a.end(), b.begin(), b.end(), both.begin());
  return both[3];
}
long ours() {
  const std::vector<long> a{1, 3, 5}, b{2, 4, 6};
  std::vector<long> both(6);
  fj::parallel_merge(a.begin(), a.end(), b.begin(), b.end(), both.begin());
  return both[3];
}
}  // namespace merge

namespace find_if {
long theirs() {
  const std::vector<long> all = numbers();
  return std::find_if(std::execution::par, all.begin(), all.end(), [](long x) { return x > 1'000; }) - all.begin();
}
long ours() {
  const std::vector<long> all = numbers();
  return fj::parallel_find_if(all.begin(), all.end(), [](long x) { return x > 1'000; }) - all.begin();
}
}  // namespace find_if

namespace any_of {
long theirs() {
  const std::vector<long> all = numbers();
  return std::any_of(std::execution::par, all.begin(), all.end(), &is_even) +
         10 * std::all_of(std::execution::par, all.begin(), all.end(), &is_even) +
         100 * std::none_of(std::execution::par, all.begin(), all.end(), &is_even);
}
long ours() {
  const std::vector<long> all = numbers();
  return fj::parallel_any_of(all.begin(), all.end(), &is_even) +
         10 * fj::parallel_all_of(all.begin(), all.end(), &is_even) +
         100 * fj::parallel_none_of(all.begin(), all.end(), &is_even);
}
}  // namespace any_of

namespace copy_if {
long theirs() {
  const std::vector<long> all = numbers();
  std::vector<long> out(all.size());
  return std::copy_if(std::execution::par, all.begin(), all.end(), out.begin(), &is_even) - out.begin();
}
long ours() {
  const std::vector<long> all = numbers();
  std::vector<long> out(all.size());
  return fj::parallel_copy_if(all.begin(), all.end(), out.begin(), &is_even) - out.begin();
}
}  // namespace copy_if

namespace partition {
long theirs() {
  std::vector<long> all = numbers();
  return std::partition(std::execution::par, all.begin(), all.end(), &is_even) - all.begin();
}
long ours() {
  std::vector<long> all = numbers();
  return fj::parallel_partition(all.begin(), all.end(), &is_even) - all.begin();
}
}  // namespace partition

}  // namespace

int main() {
  return compare({
      {"async", &async::theirs, &async::ours},
      {"futures", &futures::theirs, &futures::ours},
      {"deferred", &deferred::theirs, &deferred::ours},
      {"promise", &promise::theirs, &promise::ours},
      {"jthread", &jthread::theirs, &jthread::ours},
      {"sleep", &sleep::theirs, &sleep::ours},
      {"condition", &condition::theirs, &condition::ours},
      {"shared_mutex", &shared_mutex::theirs, &shared_mutex::ours},
      {"semaphore", &semaphore::theirs, &semaphore::ours},
      {"latch", &latch::theirs, &latch::ours},
      {"barrier", &barrier::theirs, &barrier::ours},
      {"once", &once::theirs, &once::ours},
      {"own_value", &own_value::theirs, &own_value::ours},
      {"hardware", &hardware::theirs, &hardware::ours},
      {"for_each", &for_each::theirs, &for_each::ours},
      {"transform", &transform::theirs, &transform::ours},
      {"reduce", &reduce::theirs, &reduce::ours},
      {"transform_reduce", &transform_reduce::theirs, &transform_reduce::ours},
      {"count_if", &count_if::theirs, &count_if::ours},
      {"max_element", &max_element::theirs, &max_element::ours},
      {"scan", &scan::theirs, &scan::ours},
      {"sort", &sort::theirs, &sort::ours},
      {"merge", &merge::theirs, &merge::ours},
      {"find_if", &find_if::theirs, &find_if::ours},
      {"any_of", &any_of::theirs, &any_of::ours},
      {"copy_if", &copy_if::theirs, &copy_if::ours},
      {"partition", &partition::theirs, &partition::ours},
  });
}
