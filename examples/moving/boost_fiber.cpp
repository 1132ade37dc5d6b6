// From Boost.Fiber: each row of the table in forkjoin/guide/moving.md, both ways.

#include <atomic>
#include <boost/fiber/all.hpp>
#include <chrono>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <functional>
#include <mutex>
#include <optional>

#include "examples/moving/rows.hpp"

namespace {

using namespace std::chrono_literals;
namespace fibers = boost::fibers;

namespace fiber {
long theirs() {
  long done = 0;
  fibers::fiber f([&] { done = 42; });
  f.join();
  return done;
}
long ours() {
  long done = 0;
  fj::future<void> f = fj::go([&] { done = 42; });
  f.get();
  return done;
}
}  // namespace fiber

namespace detached {
long theirs() {
  fibers::buffered_channel<long> done(2);
  fibers::fiber([&] { done.push(42); }).detach();
  return done.value_pop();
}
long ours() {
  const fj::channel<long> done(2);
  static_cast<void>(fj::go([=] { done.send(42); }));
  return *done.receive();
}
}  // namespace detached

namespace async {
long theirs() {
  fibers::future<long> answer = fibers::async([] { return 42L; });
  return answer.get();
}
long ours() {
  fj::future<long> answer = fj::go([] { return 42L; });
  return answer.get();
}
}  // namespace async

namespace promise {
long theirs() {
  fibers::promise<long> given;
  fibers::future<long> waits = given.get_future();
  fibers::fiber([&] { given.set_value(42); }).join();
  return waits.get();
}
long ours() {
  fj::promise<long> given;
  fj::future<long> waits = given.get_future();
  fj::go([&] { given.set_value(42); }).get();
  return waits.get();
}
}  // namespace promise

namespace launch {
long theirs() {
  long order = 0;
  fibers::fiber f(fibers::launch::dispatch, [&] { order = order * 10 + 1; });
  order = order * 10 + 2;
  f.join();
  return order;
}
long ours() {
  std::atomic<long> order = 0;    // the child and what comes after its fork may run at once
  fj::runtime one({.procs = 1});  // with one P they have the order of launch::dispatch
  one.run([&] {
    fj::scope s;
    s.fork([&] { order = order * 10 + 1; });
    order = order * 10 + 2;
  });
  return order;
}
}  // namespace launch

namespace unbuffered {
long theirs() {
  fibers::unbuffered_channel<long> c;
  fibers::fiber f([&] {
    for (long i = 1; i <= 10; ++i) c.push(i);
    c.close();
  });
  long sum = 0;
  for (const long each : c) sum += each;
  f.join();
  return sum;
}
long ours() {
  const fj::channel<long> c(0);
  auto f = fj::go([=] {
    for (long i = 1; i <= 10; ++i) c.send(i);
    c.close();
  });
  long sum = 0;
  for (const long each : c) sum += each;
  f.get();
  return sum;
}
}  // namespace unbuffered

// Their pop says success or closed; here the optional is empty.
namespace closed {
long theirs() {
  fibers::buffered_channel<long> c(2);
  c.close();
  long value = 0;
  return c.pop(value) == fibers::channel_op_status::closed;
}
long ours() {
  const fj::channel<long> c(2);
  c.close();
  return !c.receive();
}
}  // namespace closed

namespace pop_for {
long theirs() {
  fibers::buffered_channel<long> c(2);
  long value = 0;
  return c.pop_wait_for(value, 1ms) == fibers::channel_op_status::timeout;
}
long ours() {
  const fj::channel<long> c(2);
  try {
    static_cast<void>(c.receive({.until = std::chrono::steady_clock::now() + 1ms}));
  } catch (const fj::timed_out&) {
    return 1;
  }
  return 0;
}
}  // namespace pop_for

namespace mutex {
long theirs() {
  fibers::mutex guard;
  const std::scoped_lock lock(guard);
  return 1;
}
long ours() {
  fj::mutex guard;
  const std::scoped_lock lock(guard);
  return 1;
}
}  // namespace mutex

namespace condition {
long theirs() {
  fibers::mutex guard;
  fibers::condition_variable changed;
  bool ready = false;
  fibers::fiber gives([&] {
    const std::scoped_lock lock(guard);
    ready = true;
    changed.notify_one();
  });
  std::unique_lock lock(guard);
  changed.wait(lock, [&] { return ready; });
  lock.unlock();
  gives.join();
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

// Two phases: none begins the second before both have ended the first.
namespace barrier {
long theirs() {
  fibers::barrier both(2);
  long first = 0, second = 0;
  const auto part = [&] {
    ++first;
    both.wait();
    second += first;
  };
  fibers::fiber a(part), b(part);
  a.join(), b.join();
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

namespace yield {
long theirs() {
  bool done = false;
  fibers::fiber sets([&] { done = true; });
  while (!done) boost::this_fiber::yield();
  sets.join();
  return done;
}
long ours() {
  std::atomic<bool> done = false;  // fibers run on several threads
  auto sets = fj::go([&] { done = true; });
  while (!done) fj::yield();
  sets.get();
  return done;
}
}  // namespace yield

namespace sleep {
long theirs() {
  boost::this_fiber::sleep_for(1ms);
  return 1;
}
long ours() {
  fj::sleep_for(1ms);
  return 1;
}
}  // namespace sleep

namespace own_value {
long theirs() {
  static fibers::fiber_specific_ptr<long> mine;
  long seen = 0;
  const auto count = [&] {
    if (!mine.get()) mine.reset(new long(0));
    seen += ++*mine;
  };
  for (int i = 0; i < 2; ++i) fibers::fiber(count).join();
  return seen;
}
long ours() {
  static fj::local<long> mine;
  long seen = 0;
  for (int i = 0; i < 2; ++i) fj::go([&] { seen += ++*mine; }).get();
  return seen;
}
}  // namespace own_value

}  // namespace

int main() {
  return compare({
      {"fiber", &fiber::theirs, &fiber::ours},
      {"detached", &detached::theirs, &detached::ours},
      {"async", &async::theirs, &async::ours},
      {"promise", &promise::theirs, &promise::ours},
      {"launch", &launch::theirs, &launch::ours},
      {"unbuffered", &unbuffered::theirs, &unbuffered::ours},
      {"closed", &closed::theirs, &closed::ours},
      {"pop_for", &pop_for::theirs, &pop_for::ours},
      {"mutex", &mutex::theirs, &mutex::ours},
      {"condition", &condition::theirs, &condition::ours},
      {"barrier", &barrier::theirs, &barrier::ours},
      {"yield", &yield::theirs, &yield::ours},
      {"sleep", &sleep::theirs, &sleep::ours},
      {"own_value", &own_value::theirs, &own_value::ours},
  });
}
