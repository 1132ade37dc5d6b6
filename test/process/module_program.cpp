// A program that imports the module: forks, scopes, loops, fibers, waits and exceptions. It includes headers of the
// language before the import and after it, and none of the library.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

import forkjoin;

#ifdef __clang__  // g++ 14 takes headers only before the import
#include <atomic>
#include <numeric>
#endif

#ifdef FORKJOIN_CHECK
#error "a macro of the library came with the module"
#endif

using namespace std::chrono_literals;

/// A program may specialize a template of the module.
struct larger {
  float operator()(float a, float b) const { return a < b ? b : a; }
};
template <>
inline constexpr bool fj::exactly_associative<larger, float> = true;

static int failures = 0;

static void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

static long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

static void forks() {
  check(fib(18) == 2'584, "fork_join");
  std::atomic<int> sum = 0;
  fj::with_scope([&](fj::scope& s) {
    for (int i = 1; i <= 100; ++i) s.fork([&sum, i] { sum += i; });
  });
  check(sum == 5'050, "with_scope");
  using tasks = fj::policy<fj::last_child_first, fj::run_on_top>;
  auto [a, b] = fj::fork_join<tasks>([] { return 1; }, [] { return std::string("two"); });
  check(a == 1 && b == "two", "a policy");
  fj::task_group group;
  group.run([&] { ++sum; });
  check(group.wait() == fj::task_group_status::complete && sum == 5'051, "task_group");
}

static void loops() {
  std::vector<int> v(10'000);
  fj::parallel_for(0, 10'000, [&](int i) { v[std::size_t(i)] = (i * 7'919) % 10'000; }, {.grain = 64});
  check(fj::parallel_reduce(v, 0L, std::plus<>()) == 49'995'000, "parallel_reduce");
  fj::parallel_sort(v);
  bool sorted = true;
  for (int i = 0; i < 10'000; ++i) sorted &= v[std::size_t(i)] == i;
  check(sorted, "parallel_sort");
  fj::parallel_inclusive_scan(v, v.begin());
  check(v[3] == 6, "parallel_inclusive_scan");
  std::vector<float> peaks = {1, 3, 2, 5, 4};
  fj::parallel_inclusive_scan(peaks, peaks.begin(), larger());
  check(peaks == std::vector<float>{1, 3, 3, 5, 5}, "exactly_associative");
  fj::combinable<int> counts;
  fj::parallel_for_each(v, [&](int) { counts.with_local([](int& mine) { ++mine; }); });
  check(counts.combine(std::plus<>()) == 10'000, "combinable");
}

static void fibers() {
  fj::channel<int> numbers(2);
  auto sent = fj::go([numbers]() mutable {
    for (int i = 0; i < 100; ++i) numbers.send(i);
    numbers.close();
  });
  int sum = 0;
  for (int i : numbers) sum += i;
  sent.get();
  check(sum == 4'950, "channel");
  fj::channel<std::string> words(0);
  std::string heard;
  auto speaks = fj::go([words]() mutable { words.send("hello"); });
  const std::size_t chosen =
      fj::select(fj::on_receive(words, [&](auto word) { heard = *std::move(word); }), fj::after(60s, [] {}));
  speaks.get();
  check(chosen == 0 && heard == "hello", "select");
  fj::mutex lock;
  fj::wait_group all;
  int guarded = 0;
  for (int i = 0; i < 10; ++i) {
    all.add(1);
    static_cast<void>(fj::go([&] {
      for (int k = 0; k < 100; ++k) {
        lock.lock();
        ++guarded;
        lock.unlock();
        fj::yield();
      }
      all.done();
    }));
  }
  all.wait();
  check(guarded == 1'000, "mutex and wait_group");
  check(fj::blocking([] { return 4; }) == 4, "blocking");
  fj::sleep_for(1ms);
}

template <class E, class F>
static bool throws(F&& f) {
  try {
    f();
  } catch (const E&) {
    return true;
  }
  return false;
}

static void exceptions() {
  check(throws<std::runtime_error>([] { fj::fork_join([] { throw std::runtime_error("a branch"); }, [] {}); }),
        "a branch's exception");
  check(throws<std::logic_error>([] { fj::go([] { throw std::logic_error("a fiber"); }).get(); }),
        "a fiber's exception");
  fj::channel<int> nothing(0);
  check(throws<fj::timed_out>([&] { nothing.receive({.until = std::chrono::steady_clock::now() + 1ms}); }),
        "a deadline");
  fj::stop_source source;
  source.request_stop();
  const fj::stop_token token = source.get_token();
  check(throws<fj::cancelled>([&] { nothing.receive({.stop = &token}); }), "a stop");
  check(throws<fj::cancelled>([&] { fj::parallel_for(0, 100, [](int) {}, {.stop = &token}); }), "a loop's stop");
}

int main() {
  for (unsigned procs : {1u, 2u, 8u}) {
    fj::runtime rt({.procs = procs});
    rt.run([] {
      forks();
      loops();
      fibers();
      exceptions();
    });
    const fj::stats told = rt.stats();
    check(told.procs.size() == procs, "stats");
  }
  check(fj::run([] { return fj::procs() > 0; }), "run");
  const fj::exploration found = fj::explore([] { return fib(3); }, 3);
  check(!found.failed(), "explore");
  std::printf(failures == 0 ? "all right\n" : "%d wrong\n", failures);
  return failures != 0;
}
