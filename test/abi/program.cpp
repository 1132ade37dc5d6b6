// Uses what programs and the library agree on: forks, scopes, loops, jobs, fibers and waits. interface_test.py compiles
// it with the headers of an earlier commit, and runs it with the library of today.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <vector>

#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::exit(1);
}

template <class Policy>
long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join<Policy>([=] { return fib<Policy>(n - 1); }, [=] { return fib<Policy>(n - 2); });
  return a + b;
}

template <class Policy>
void use_forks() {
  expect(fib<Policy>(18) == 2584, "fib");
  auto [a, b, c] = fj::fork_join<Policy>([] { return 1; }, [] { return fib<Policy>(5); }, [] { return 3; });
  expect(a + b + c == 9, "three branches");
  bool thrown = false;
  try {
    fj::fork_join<Policy>([] { fib<Policy>(8); }, [] { throw std::runtime_error("second"); });
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  expect(thrown, "an exception of a branch");
  std::atomic<long> sum = 0;
  fj::with_scope<Policy>([&](auto& s) {
    for (int i = 0; i != 200; ++i) s.fork([&, i] { sum += fib<Policy>(i % 8); });
    std::array<long, 2000> large{};
    large[7] = 5;
    s.fork([&sum, large] { sum += large[7]; });
  });
  expect(sum == 200 / 8 * (0 + 1 + 1 + 2 + 3 + 5 + 8 + 13) + 5, "a scope's children");
}

void use_loops() {
  std::vector<int> numbers(100'000);
  for (int round = 0; round != 50; ++round)
    fj::parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t i) { numbers[i] = int(i % 7); });
  expect(fj::parallel_reduce(numbers, 0L, std::plus<>()) == std::accumulate(numbers.begin(), numbers.end(), 0L),
         "a sum");
  for (int round = 0; round != 2'000; ++round) fj::parallel_for(0, 20, [&](int i) { numbers[std::size_t(i)] = -i; });
  expect(fj::fork_reduce(0, 100, 0, std::plus<>(), [](int i) { return i; }) == 4950, "fork_reduce");
  fj::parallel_sort(numbers);
  expect(std::is_sorted(numbers.begin(), numbers.end()), "a sort");
}

void use_waits() {
  fj::channel<int> to(2), from(0);
  auto echo = fj::go([=] {
    for (int i : to) from.send(i + 1);
    from.close();
  });
  int sum = 0;
  fj::fork_join(
      [&] {
        for (int i = 0; i != 100; ++i) to.send(i);
        to.close();
      },
      [&] {
        while (std::optional<int> got = from.receive()) sum += *got;
      });
  echo.get();
  expect(sum == 5050, "values of a channel");

  fj::mutex lock;
  fj::condition_variable changed;
  fj::shared_mutex shared;
  fj::semaphore permits(2);
  fj::wait_group all;
  fj::barrier together(3);
  fj::latch begun(3);
  static fj::local<int> own;
  int counted = 0;
  for (int i = 0; i != 3; ++i) {
    all.add(1);
    static_cast<void>(fj::go([&, i] {
      *own = i;
      begun.count_down();
      together.arrive_and_wait();
      permits.acquire();
      fj::sleep_for(std::chrono::microseconds(100));
      permits.release();
      const std::shared_lock read(shared);
      {
        const std::scoped_lock held(lock);
        counted += *own + 1;
      }
      changed.notify_all();
      all.done();
    }));
  }
  begun.wait();
  {
    std::unique_lock held(lock);
    while (counted != 6) changed.wait(held);
  }
  all.wait();

  const auto chosen =
      fj::select(fj::on_receive(fj::channel<int>(1), [](auto&&) {}), fj::after(std::chrono::milliseconds(1), [] {}));
  expect(chosen == 1, "a select");
  bool timed_out = false;
  try {
    static_cast<void>(fj::channel<int>(0).receive({.until = fj::now()}));
  } catch (const fj::timed_out&) {
    timed_out = true;
  }
  expect(timed_out, "a deadline");
  auto stops = fj::go([](fj::stop_token stop) { return fj::channel<int>(0).receive({.stop = &stop}).has_value(); });
  stops.request_stop();
  bool cancelled = false;
  try {
    static_cast<void>(stops.get());
  } catch (const fj::cancelled&) {
    cancelled = true;
  }
  expect(cancelled, "a stop");
  fj::promise<int> promise;
  auto promised = promise.get_future();
  promise.set_value(7);
  expect(promised.get() == 7, "a promise");

  fj::task_group tasks;
  std::atomic<int> ran = 0;
  for (int i = 0; i != 20; ++i) tasks.run([&] { ++ran; });
  tasks.wait();
  expect(ran == 20, "tasks of a group");

  int ends[2];
  expect(pipe(ends) == 0, "a pipe");
  fj::descriptor out(ends[0]), in(ends[1]);
  char byte = 0;
  fj::fork_join([&] { expect(fj::read(out, &byte, 1) == 1, "a read"); },
                [&] { expect(fj::write(in, "x", 1) == 1, "a write"); });
  expect(byte == 'x', "a byte of a pipe");
  expect(fj::blocking([] { return usleep(1000); }) == 0, "a blocking call");
  expect(fj::count_fibers().all() >= 1, "the count of fibers");
}

void use_all() {
  use_forks<fj::continuations>();
  use_forks<fj::tasks>();
  use_forks<fj::policy<fj::first_child_first, fj::leapfrog>>();
  use_forks<fj::policy<fj::last_child_first, fj::leave_stack>>();
  use_loops();
  use_waits();
}

}  // namespace

int main() {
  use_forks<fj::continuations>();  // from outside: the default runtime
  for (const unsigned procs : {1u, 4u}) {
    fj::runtime rt({.procs = procs});
    rt.run([] { use_all(); });
    expect(rt.stats().procs.size() == procs, "the statistics");
  }
  fj::runtime rt({.procs = 2, .steal_every_fork = true});
  rt.run([] {
    use_forks<fj::continuations>();
    use_waits();
  });
}
