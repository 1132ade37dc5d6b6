// From Go: each row of the table in forkjoin/guide/moving.md. examples/moving/go/main.go has the same rows in Go.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <utility>
#include <vector>

#include "examples/moving/rows.hpp"

namespace {

using namespace std::chrono_literals;

namespace go {
long ours() {
  const fj::channel<long> done(0);
  static_cast<void>(fj::go([=] { done.send(42); }));
  return *done.receive();
}
}  // namespace go

namespace buffered {
long ours() {
  const fj::channel<long> c(3);
  c.send(1);
  c.send(2);
  return static_cast<long>(10 * c.size() + c.capacity());
}
}  // namespace buffered

namespace range {
long ours() {
  const fj::channel<long> c(0);
  static_cast<void>(fj::go([=] {
    for (long i = 1; i <= 10; ++i) c.send(i);
    c.close();
  }));
  long sum = 0;
  for (const long each : c) sum += each;
  return sum;
}
}  // namespace range

namespace comma_ok {
long ours() {
  const fj::channel<long> c(1);
  c.send(7);
  c.close();
  long sum = 0;
  while (const std::optional<long> v = c.receive()) sum += *v;
  return sum;
}
}  // namespace comma_ok

namespace send_on_closed {
long ours() {
  const fj::channel<long> c(1);
  c.close();
  try {
    c.send(1);
  } catch (const fj::channel_closed&) {
    return 1;
  }
  return 0;
}
}  // namespace send_on_closed

namespace directions {
void produce(const fj::send_channel<long>& out) { out.send(5); }
long consume(const fj::receive_channel<long>& in) { return *in.receive(); }
long ours() {
  const fj::channel<long> c(1);
  produce(c);
  return consume(c);
}
}  // namespace directions

namespace select {
long ours() {
  const fj::channel<long> a(1), b(0);
  a.send(3);
  long got = 0;
  fj::select(fj::on_receive(a, [&](std::optional<long> v) { got = *v; }), fj::on_send(b, 1, [&] { got = -1; }));
  return got;
}
}  // namespace select

namespace select_default {
long ours() {
  const fj::channel<long> c(0);
  long got = 0;
  fj::select(fj::on_receive(c, [&](std::optional<long> v) { got = *v; }), fj::otherwise([&] { got = -1; }));
  return got;
}
}  // namespace select_default

namespace select_after {
long ours() {
  const fj::channel<long> never(0);
  long got = 0;
  fj::select(fj::on_receive(never, [&](std::optional<long> v) { got = *v; }), fj::after(1ms, [&] { got = -1; }));
  return got;
}
}  // namespace select_after

namespace nil_channel {
long ours() {
  const fj::channel<long> none;
  long got = 0;
  fj::select(fj::on_receive(none, [&](std::optional<long>) { got = 1; }), fj::otherwise([&] { got = -1; }));
  return got;
}
}  // namespace nil_channel

namespace wait_group {
long ours() {
  std::atomic<long> sum = 0;
  fj::with_scope([&](fj::scope& all) {
    for (long i = 0; i < 10; ++i) all.fork([&sum, i] { sum += i; });
  });
  return sum;
}
}  // namespace wait_group

namespace mutex {
long ours() {
  fj::mutex guard;
  long count = 0;
  fj::fork_each(0, 100, [&](int) {
    const std::scoped_lock lock(guard);
    ++count;
  });
  return count;
}
}  // namespace mutex

namespace rw_mutex {
long ours() {
  fj::shared_mutex guard;
  long value = 1;
  {
    const std::unique_lock lock(guard);
    value = 2;
  }
  const std::shared_lock lock(guard);
  return value;
}
}  // namespace rw_mutex

namespace once {
long ours() {
  fj::once first;
  long calls = 0;
  for (int i = 0; i < 3; ++i) first.call([&] { ++calls; });
  return calls;
}
}  // namespace once

namespace cond {
long ours() {
  fj::mutex guard;
  fj::condition_variable changed;
  bool ready = false;
  auto gives = fj::go([&] {
    const std::scoped_lock lock(guard);
    ready = true;
    changed.notify_all();
  });
  {
    std::unique_lock lock(guard);
    while (!ready) changed.wait(lock);
  }
  gives.get();
  return ready;
}
}  // namespace cond

namespace with_cancel {
long ours() {
  auto waits = fj::go([](fj::stop_token stop) {
    try {
      fj::sleep_for(1h, {.stop = &stop});
    } catch (const fj::cancelled&) {
      return 1L;
    }
    return 0L;
  });
  waits.request_stop();
  return waits.get();
}
}  // namespace with_cancel

namespace with_timeout {
long ours() {
  const fj::channel<long> never(0);
  try {
    return *never.receive({.until = std::chrono::steady_clock::now() + 1ms});
  } catch (const fj::timed_out&) {
    return -1;
  }
}
}  // namespace with_timeout

namespace ticker {
long ours() {
  long ticks = 0;
  for (auto next = std::chrono::steady_clock::now() + 1ms; ticks < 3; next += 1ms, ++ticks) fj::sleep_until(next);
  return ticks;
}
}  // namespace ticker

namespace sleep {
long ours() {
  fj::sleep_for(1ms);
  return 1;
}
}  // namespace sleep

namespace gosched {
long ours() {
  std::atomic<bool> done = false;
  auto sets = fj::go([&] { done = true; });
  while (!done) fj::yield();
  sets.get();
  return done;
}
}  // namespace gosched

namespace defer {
struct deferred {
  std::function<void()> f;
  ~deferred() { f(); }
};
long ours() {
  long order = 0;
  {
    const deferred last{[&] { order = order * 10 + 2; }};
    order = order * 10 + 1;
  }
  return order;
}
}  // namespace defer

namespace recovered {
long ours() {
  try {
    fj::go([] { throw std::runtime_error("it fails"); }).get();
  } catch (const std::runtime_error&) {
    return 1;
  }
  return 0;
}
}  // namespace recovered

namespace max_procs {
long ours() { return fj::procs() > 0; }
}  // namespace max_procs

// A pipe, as a connection: one side writes, the other waits for it.
namespace connection {
long ours() {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const fj::descriptor from(ends[0]), to(ends[1]);
  auto writer = fj::go([&] { fj::write(to, "go", 2); });
  char bytes[2];
  const auto count = fj::read(from, bytes, sizeof(bytes));
  writer.get();
  return static_cast<long>(count);
}
}  // namespace connection

}  // namespace

int main() {
  return fj::run([] {
    return compare(std::initializer_list<own_row>{
        {"go", &go::ours, 42},
        {"buffered", &buffered::ours, 23},
        {"range", &range::ours, 55},
        {"comma_ok", &comma_ok::ours, 7},
        {"send_on_closed", &send_on_closed::ours, 1},
        {"directions", &directions::ours, 5},
        {"select", &select::ours, 3},
        {"select_default", &select_default::ours, -1},
        {"select_after", &select_after::ours, -1},
        {"nil_channel", &nil_channel::ours, -1},
        {"wait_group", &wait_group::ours, 45},
        {"mutex", &mutex::ours, 100},
        {"rw_mutex", &rw_mutex::ours, 2},
        {"once", &once::ours, 1},
        {"cond", &cond::ours, 1},
        {"with_cancel", &with_cancel::ours, 1},
        {"with_timeout", &with_timeout::ours, -1},
        {"ticker", &ticker::ours, 3},
        {"sleep", &sleep::ours, 1},
        {"gosched", &gosched::ours, 1},
        {"defer", &defer::ours, 12},
        {"recovered", &recovered::ours, 1},
        {"max_procs", &max_procs::ours, 1},
        {"connection", &connection::ours, 2},
    });
  });
}
