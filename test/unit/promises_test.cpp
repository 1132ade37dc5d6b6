// Promises, waits for one of several futures, lists of cases, and what tells closed from empty.
#include <doctest/doctest.h>

#include <chrono>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "forkjoin/go.hpp"
#include "test/support.hpp"

namespace {
using namespace std::chrono_literals;
}

TEST_CASE("promise: a value, of a fiber or a thread") {
  test::for_each_procs([](unsigned procs) {
    fj::runtime rt(test::with_procs(procs));
    rt.run([] {
      fj::promise<std::unique_ptr<int>> p;
      auto f = p.get_future();
      CHECK(!f.ready());
      auto giver = fj::go([p = std::move(p)]() mutable { p.set_value(std::make_unique<int>(7)); });
      CHECK(*f.get() == 7);
      CHECK(!f.valid());
      giver.get();

      fj::promise<void> signal;
      auto signalled = signal.get_future();
      std::thread outside([&] { signal.set_value(); });
      signalled.get();
      outside.join();
    });
  });
}

TEST_CASE("promise: what goes wrong") {
  fj::promise<int> p;
  auto f = p.get_future();
  CHECK_THROWS_AS(static_cast<void>(p.get_future()), std::logic_error);
  p.set_value(1);
  constexpr auto over = ": a value or an exception is set already, or the promise was moved from; make a new promise";
  CHECK_THROWS_WITH_AS(p.set_value(2), doctest::Contains(("fj::promise::set_value" + std::string(over)).c_str()),
                       std::logic_error);
  CHECK_THROWS_AS(static_cast<void>(p.get_future()), std::logic_error);
  CHECK(!f.request_stop());
  CHECK(f.get() == 1);

  fj::promise<int> from;
  const fj::promise<int> into(std::move(from));
  CHECK_THROWS_WITH_AS(from.set_exception(std::make_exception_ptr(std::runtime_error("lost"))),
                       doctest::Contains(("fj::promise::set_exception" + std::string(over)).c_str()), std::logic_error);
  CHECK_THROWS_WITH_AS(static_cast<void>(from.get_future()), doctest::Contains("or the promise was moved from"),
                       std::logic_error);

  std::optional<fj::promise<std::string>> broken(std::in_place);
  auto never = broken->get_future();
  broken.reset();
  CHECK_THROWS_AS(never.get(), fj::broken_promise);

  fj::promise<int> failed;
  auto fails = failed.get_future();
  failed.set_exception(std::make_exception_ptr(std::runtime_error("mine")));
  CHECK_THROWS_WITH(fails.get(), "mine");

  // Tried without the refusal: get returns a string that was never made.
  fj::promise<std::string> kept;
  auto keeps = kept.get_future();
  CHECK_THROWS_WITH_AS(kept.set_exception(nullptr),
                       "fj::promise::set_exception: the pointer is null; pass one to an exception", std::logic_error);
  CHECK(!keeps.ready());
  kept.set_value("after all");
  CHECK(keeps.get() == "after all");

  { fj::promise<int> no_future; }
  {
    fj::promise<int> dropped;
    { auto gone = dropped.get_future(); }
    dropped.set_exception(std::make_exception_ptr(std::runtime_error("no process ends by it")));
  }
  fj::promise<int> a, b;
  auto of_a = a.get_future();
  a = std::move(b);  // breaks a's
  CHECK_THROWS_AS(of_a.get(), fj::broken_promise);
  struct throws_when_moved {
    throws_when_moved() = default;
    throws_when_moved(throws_when_moved&&) { throw std::runtime_error("moved"); }
  };
  fj::promise<throws_when_moved> moves;
  auto moved = moves.get_future();
  moves.set_value(throws_when_moved());
  CHECK_THROWS_WITH(moved.get(), "moved");
}

TEST_CASE("wait_any: the first of several futures") {
  test::for_each_procs([](unsigned procs) {
    fj::runtime rt(test::with_procs(procs));
    rt.run([] {
      std::vector<fj::promise<int>> promises(5);
      std::vector<fj::future<int>> futures;
      for (auto& each : promises) futures.push_back(each.get_future());
      CHECK_THROWS_AS(fj::wait_any(futures, {.until = std::chrono::steady_clock::now() + 1ms}), fj::timed_out);
      auto giver = fj::go([&] { promises[3].set_value(3); });
      CHECK(fj::wait_any(futures) == 3);
      CHECK(fj::wait_any(futures) == 3);  // it is ready still
      CHECK(futures[3].get() == 3);
      giver.get();
      CHECK_THROWS_AS(fj::wait_any(futures), std::logic_error);  // one of them is not valid
      CHECK_THROWS_AS(fj::wait_any(std::vector<fj::future<void>>()), std::logic_error);
    });
  });
}

// The case owns what the future let go of. Tried with a case that does not: AddressSanitizer reports it. Tried without
// was_chosen: the second select chooses the first case again, whose future has no result any more.
TEST_CASE("on_ready: handlers take the results, one select after another") {
  test::for_each_runtime("results by a select_list", [](fj::runtime& rt, unsigned, test::stealing) {
    rt.run([] {
      std::vector<fj::future<int>> all;
      for (int i = 0; i < 8; ++i) all.push_back(fj::go([i] { return i; }));
      fj::select_list any;
      int sum = 0;
      for (auto& each : all) any.on_ready(each, [&] { sum += each.get(); });
      for (std::size_t i = 0; i < all.size(); ++i) any.select();
      CHECK(sum == 28);
      CHECK(!any.try_select());
      CHECK_THROWS_AS(any.select(), std::logic_error);

      auto one = fj::go([] { return 5; });
      int got = 0;
      auto named = fj::on_ready(one, [&] { got += one.valid() ? one.get() : 1; });
      fj::select(named);
      fj::select(named);  // ready still
      CHECK(got == 6);
    });
  });
}

TEST_CASE("on_ready: a select for a fiber, a channel and a time") {
  fj::run([] {
    fj::channel<int> c(1);
    auto fiber = fj::go([&] {
      c.send(4);
      fj::sleep_for(1ms);
      return 5;
    });
    int sum = 0, rounds = 0;
    for (bool ends = false; !ends; ++rounds)
      fj::select(fj::on_receive(c, [&](std::optional<int> n) { sum += *n; }),
                 fj::on_ready(fiber,
                              [&] {
                                sum += fiber.get();
                                ends = true;
                              }),
                 fj::after(1h, [] { FAIL("too late"); }));
    if (rounds == 1) sum += *c.receive();  // the fiber had ended before the first
    CHECK(sum == 9);
  });
}

TEST_CASE("select_list: channels whose number is known at run time") {
  test::for_each_procs([](unsigned procs) {
    fj::runtime rt(test::with_procs(procs));
    rt.run([] {
      constexpr int count = 20, each_sends = 50;
      std::vector<fj::channel<int>> inputs;
      std::vector<fj::future<void>> senders;
      for (int i = 0; i != count; ++i) {
        inputs.emplace_back(i % 3);
        senders.push_back(fj::go([to = inputs.back()] {
          for (int n = 1; n <= each_sends; ++n) to.send(n);
          to.close();
        }));
      }
      fj::select_list any;
      long sum = 0;
      int open = count;
      std::vector<bool> closed(count);
      for (std::size_t i = 0; i != inputs.size(); ++i)
        any.on_receive(inputs[i], [&, i](std::optional<int> n) {
          if (n) {
            sum += *n;
            return;
          }
          CHECK(!closed[i]);
          closed[i] = true;
          --open;
          any.remove(i);
        });
      while (open != 0) any.select();
      CHECK(sum == count * each_sends * (each_sends + 1) / 2);
      CHECK_THROWS_AS(any.select(), std::logic_error);
      for (auto& sender : senders) sender.get();
    });
  });
}

// Tried with the case destroyed by remove.
TEST_CASE("select_list: a handler that removes its case goes on") {
  struct watched {
    explicit watched(bool* over) : over(over) {}
    watched(watched&& from) noexcept : over(std::exchange(from.over, nullptr)) {}
    ~watched() {
      if (over) *over = true;
    }
    bool* over;
  };
  fj::channel<int> c(1);
  c.send(7);
  fj::select_list any;
  bool over = false, over_in_handler = true;
  std::size_t index = 0;
  index = any.on_receive(c, [&, w = watched(&over)](std::optional<int>) {
    any.remove(index);
    over_in_handler = *w.over;
  });
  CHECK(any.select() == index);
  CHECK(!over_in_handler);
  CHECK(over);
  CHECK_THROWS_AS(any.select(), std::logic_error);
}

// Tried with a sort that leaves locks out of order, and so equal ones apart: hangs.
TEST_CASE("select_list: hundreds of channels, in any order, some of them in several cases") {
  constexpr std::size_t count = 300;
  std::vector<fj::channel<int>> inputs;
  for (std::size_t i = 0; i != count; ++i) inputs.emplace_back(1);
  fj::select_list any;
  std::size_t received = count;
  for (std::size_t n = 0; n != 2 * count; ++n) {
    const std::size_t i = n * 7919 % count;
    any.on_receive(inputs[i], [&received, i](std::optional<int>) { received = i; });
  }
  CHECK(!any.try_select());
  for (std::size_t i = 0; i < count; i += 13) {
    inputs[i].send(1);
    CHECK(any.select() % count * 7919 % count == i);
    CHECK(received == i);
  }
}

TEST_CASE("select_list: sends, times, futures, and no wait") {
  fj::run([] {
    fj::channel<int> full(0), room(1);
    fj::promise<void> p;
    const auto ready = p.get_future();
    std::string order;
    fj::select_list any;
    const std::size_t waits = any.on_receive(full, [&](auto) { order += 'r'; });
    CHECK(!any.try_select());
    const std::size_t sends = any.on_send(room, 3, [&] { order += 's'; });
    CHECK(any.try_select() == sends);
    CHECK(!any.try_select());  // it has sent its value
    CHECK(room.receive() == 3);
    CHECK(!any.try_select());
    const std::size_t done = any.on_ready(ready, [&] { order += 'd'; });
    p.set_value();
    CHECK(any.select() == done);
    any.remove(done);
    const std::size_t timed = any.after(1ms, [&] { order += 't'; });
    CHECK(any.select() == timed);
    CHECK(any.select() == timed);
    any.remove(timed);
    CHECK_THROWS_AS(any.select({.until = std::chrono::steady_clock::now() + 1ms}), fj::timed_out);
    any.remove(waits);
    CHECK_THROWS_WITH_AS(any.remove(99),
                         doctest::Contains("fj::select_list::remove: the index is 99, and the list has had"),
                         std::out_of_range);
    CHECK(order == "sdtt");
    fj::channel<int> closed(1);
    closed.close();
    any.on_send(closed, 1, [] {});
    CHECK_THROWS_AS(any.select(), fj::channel_closed);
  });
}

TEST_CASE("try_receive: closed, and empty") {
  fj::channel<int> c(2);
  std::optional<int> into = 5;
  CHECK(!c.try_receive(into));
  CHECK(!into);
  c.send(1);
  c.close();
  CHECK(c.try_receive(into));
  CHECK(into == 1);
  CHECK(c.try_receive(into));
  CHECK(!into);
  CHECK(!fj::channel<int>().try_receive(into));
  CHECK(fj::receive_channel<int>(c).try_receive(into));
}

TEST_CASE("wait_options: until a time of any clock") {
  fj::channel<int> c(0);
  CHECK_THROWS_AS(c.receive({.until = std::chrono::system_clock::now() + 1ms}), fj::timed_out);
  CHECK_THROWS_AS(c.receive({.until = std::chrono::steady_clock::now() - 1h}), fj::timed_out);
  CHECK_THROWS_AS(c.receive({.until = fj::now()}), fj::timed_out);
  const std::chrono::time_point<std::chrono::system_clock, std::chrono::hours> long_ago{};
  CHECK_THROWS_AS(c.receive({.until = long_ago}), fj::timed_out);
}
