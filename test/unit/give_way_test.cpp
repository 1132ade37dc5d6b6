// Which operations of <forkjoin/go.hpp> give way, and when: the rule of forkjoin/abi/maybe_yield.hpp, operation by
// operation.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "test/sockets.hpp"
#include "test/support.hpp"
#include "test/waits.hpp"

namespace {

using namespace std::chrono_literals;

// The runtime's dice say once in three times that a strand gives way. Enough calls that one of them does.
constexpr int calls = 200;

// All that the operations need; the calling strand's.
struct things {
  fj::channel<int> empty{1}, full{1}, used{1}, closed{0}, none;
  fj::mutex free, locked, of_condition;
  fj::shared_mutex shared_free, shared_locked;
  fj::condition_variable condition;
  fj::semaphore permits{1'000'000};
  fj::wait_group tasks;
  fj::once done;
  fj::local<int> local;
  fj::future<void> ended, waiting;
  test::pair_of_descriptors pipe = test::make_pipe(), readable = test::make_pipe();

  things() {
    full.send(1);
    used.send(1);
    locked.lock();
    shared_locked.lock();
    tasks.add(1'000'000);
    done.call([] {});
    fj::write(readable.second, "x", 1);
    ended = fj::go([] {});
    ended.wait();
    waiting = fj::go([on = empty] { static_cast<void>(on.receive()); });
    closed.close();
  }
  ~things() {
    locked.unlock();
    shared_locked.unlock();
    empty.close();
    waiting.get();
  }
};

// Whether another fiber, which is ready, runs while the strand does that over and over.
bool gives_way(const std::function<void(things&)>& operation) {
  fj::runtime rt({.procs = 1, .chaos = 1});
  return rt.run([&] {
    things all;
    std::atomic<bool> other_ran{false};
    auto other = fj::go([&] { other_ran = true; });
    for (int i = 0; i < calls && !other_ran; ++i) operation(all);
    const bool gave_way = other_ran.load();
    other.get();
    return gave_way;
  });
}

using operations = std::map<std::string, std::function<void(things&)>>;

// The same of an operation on objects that make() has made, and prepare() changed: each once.
template <class Prepare, class Operation>
bool gives_way(test::way_to_wait (*make)(), Prepare prepare, Operation operation) {
  fj::runtime rt({.procs = 1, .chaos = 1});
  return rt.run([&] {
    std::vector<test::way_to_wait> all;
    for (int i = 0; i < calls; ++i) prepare(all.emplace_back(make()));
    std::atomic<bool> other_ran{false};
    auto other = fj::go([&] { other_ran = true; });
    for (auto each = all.begin(); each != all.end() && !other_ran; ++each) operation(*each);
    const bool gave_way = other_ran.load();
    other.get();
    return gave_way;
  });
}

}  // namespace

// Tried with a semaphore that gives way neither when it need not wait nor when it was asked in vain, but when it is
// released: all fail.
TEST_CASE("giving way: each way to wait, though it need not wait; to ask in vain; but not to end a wait") {
  const test::watchdog dog("each way to wait", 1);
  const auto nothing = [](const test::way_to_wait&) {};
  const auto open = [](const test::way_to_wait& way) { way.open(); };
  for (const auto make : test::ways_to_wait) {
    const test::way_to_wait shut = make();
    CAPTURE(shut.call);
    CHECK(gives_way(make, open, [](const test::way_to_wait& way) { way.wait({}); }));
    if (shut.ask) CHECK(gives_way(make, nothing, [](const test::way_to_wait& way) { CHECK(!way.ask()); }));
    if (!shut.open_may_wait) CHECK(!gives_way(make, nothing, open));
  }
}

// Each was tried without its call of maybe_yield, and hung on one P in a loop.
TEST_CASE("giving way: what may wait gives way before it begins, also if it need not wait") {
  const test::watchdog dog("what may wait", 1);
  const operations all{
      {"send on a closed channel", [](things& t) { CHECK_THROWS_AS(t.closed.send(1), fj::channel_closed); }},
      {"receive of a closed channel", [](things& t) { static_cast<void>(t.closed.receive()); }},
      {"range-for over a closed channel",
       [](things& t) {
         for (int each : t.closed) CHECK(each == 0);
       }},
      {"mutex::try_lock_for",
       [](things& t) {
         if (t.free.try_lock_for(1h)) t.free.unlock();
       }},
      {"mutex::try_lock_until", [](things& t) { CHECK(!t.locked.try_lock_until(std::chrono::steady_clock::now())); }},
      {"condition_variable::wait_for",
       [](things& t) {
         std::unique_lock lock(t.of_condition);
         CHECK(t.condition.wait_for(lock, 1h, [] { return true; }));
       }},
      {"semaphore::try_acquire_for", [](things& t) { CHECK(t.permits.try_acquire_for(1h)); }},
      {"once::call", [](things& t) { t.done.call([] { CHECK(false); }); }},
      {"future::wait_for", [](things& t) { CHECK(t.ended.wait_for(1h)); }},
      {"select with otherwise",
       [](things& t) { fj::select(fj::on_receive(t.empty, [](auto) {}), fj::otherwise([] {})); }},
      {"sleep_for nothing", [](things&) { fj::sleep_for(0s); }},
      {"sleep_until the past", [](things&) { fj::sleep_until(std::chrono::steady_clock::now() - 1s); }},
      {"read", [](things& t) { CHECK(fj::read(t.pipe.first, nullptr, 0) == 0); }},
      {"write", [](things& t) { CHECK(fj::write(t.pipe.second, nullptr, 0) == 0); }},
      {"accept",
       [](things& t) {
         std::error_code error;
         CHECK_FALSE(fj::accept(t.pipe.first, error));
         CHECK(error);
       }},
      {"readable", [](things& t) { fj::readable(t.readable.first); }},
      {"writable of a number", [](things& t) { fj::writable(t.pipe.second.native_handle()); }},
      {"go", [](things&) { static_cast<void>(fj::go([] {})); }},
      {"blocking", [](things&) { fj::blocking([] {}); }},
      {"yield", [](things&) { fj::yield(); }},
  };
  for (const auto& [name, operation] : all) {
    CAPTURE(name);
    CHECK(gives_way(operation));
  }
}

TEST_CASE("giving way: what only asks gives way after it failed, and only then") {
  const test::watchdog dog("what asks", 1);
  const operations failing{
      {"try_send on no channel", [](things& t) { CHECK(!t.none.try_send(2)); }},
      {"try_receive on no channel", [](things& t) { CHECK(!t.none.try_receive()); }},
      {"shared_mutex::try_lock_shared", [](things& t) { CHECK(!t.shared_locked.try_lock_shared()); }},
  };
  for (const auto& [name, operation] : failing) {
    CAPTURE(name);
    CHECK(gives_way(operation));
  }
  // Tried with the operations giving way before they ask: all fail.
  const operations succeeding{
      {"try_receive and try_send",
       [](things& t) {
         if (t.used.try_receive()) CHECK(t.used.try_send(1));
       }},
      {"mutex::try_lock",
       [](things& t) {
         if (t.free.try_lock()) t.free.unlock();
       }},
      {"shared_mutex::try_lock",
       [](things& t) {
         if (t.shared_free.try_lock()) t.shared_free.unlock();
       }},
      {"shared_mutex::try_lock_shared",
       [](things& t) {
         if (t.shared_free.try_lock_shared()) t.shared_free.unlock_shared();
       }},
      {"semaphore::try_acquire", [](things& t) { CHECK(t.permits.try_acquire()); }},
      {"future::ready", [](things& t) { CHECK(t.ended.ready()); }},
  };
  for (const auto& [name, operation] : succeeding) {
    CAPTURE(name);
    CHECK(!gives_way(operation));
  }
}

TEST_CASE("giving way: fj::local and the size of a channel always do") {
  const test::watchdog dog("local and size", 1);
  CHECK(gives_way([](things& t) { ++*t.local; }));
  CHECK(gives_way([](things& t) { CHECK(t.full.size() == 1); }));
}

// Tried with maybe_yield in each: all fail.
TEST_CASE("giving way: what never waits never does") {
  const test::watchdog dog("what never waits", 1);
  const operations all{
      {"close", [](things&) { fj::channel<int>(1).close(); }},
      {"condition_variable::notify_one", [](things& t) { t.condition.notify_one(); }},
      {"condition_variable::notify_all", [](things& t) { t.condition.notify_all(); }},
      {"semaphore::release", [](things& t) { t.permits.release(); }},
      {"wait_group::add and done", [](things& t) { (t.tasks.add(), t.tasks.done()); }},
      {"mutex::unlock",
       [](things& t) {
         if (t.free.try_lock()) t.free.unlock();
       }},
      {"future::request_stop", [](things& t) { CHECK(!t.waiting.request_stop()); }},
      {"descriptor::close", [](things&) { test::make_pipe().first.close(); }},
      {"the handles themselves",
       [](things& t) {
         CHECK(t.empty);
         CHECK(t.empty.capacity() == 1);
         CHECK(t.waiting.valid());
         CHECK(t.pipe.first);
       }},
  };
  for (const auto& [name, operation] : all) {
    CAPTURE(name);
    CHECK(!gives_way(operation));
  }
}

// The case that users meet: no chaos, but a loop that polls for longer than its time slice. Tried without maybe_yield
// after a failure: each hangs.
TEST_CASE("giving way: loops that poll end, on one P") {
  const test::watchdog dog("loops that poll", 1);
  fj::runtime rt({.procs = 1});
  rt.run([] {
    fj::mutex m;
    fj::semaphore s(0);
    fj::channel<int> c(1);
    fj::local<int> mine;
    std::atomic<bool> over{false};
    m.lock();
    auto ended = fj::go([] { fj::sleep_for(20ms); });
    std::vector<fj::future<void>> all;
    all.push_back(fj::go([&] {
      while (!m.try_lock()) {}
      m.unlock();
    }));
    all.push_back(fj::go([&] {
      while (!s.try_acquire()) {}
    }));
    all.push_back(fj::go([&] {
      while (!ended.ready()) {}
    }));
    all.push_back(fj::go([&] {
      while (c.size() == 0) {}
    }));
    all.push_back(fj::go([&] {
      while (!over) ++*mine;
    }));
    fj::sleep_for(15ms);
    m.unlock();
    s.release();
    c.send(1);
    over = true;
    for (auto& each : all) each.get();
  });
}

// A std::stop_source remembers the thread that requests the stop. If the strand that requests it went on elsewhere in
// the middle of a callback, the destructor of that callback would wait for the wrong thread, or not at all. Tried with
// maybe_yield in each of these operations: one callback in six outlives its destructor.
TEST_CASE("giving way: a stop callback may do all that never waits") {
  for (std::uint64_t seed = 1; seed <= test::divided(40u); ++seed) {
    for (const unsigned p : {1u, 2u, 4u}) {
      const test::watchdog dog("stop callbacks", p);
      // The standard library takes strands of one thread for one, and relies on the thread's order.
      fj::runtime rt({.procs = p, .chaos = seed, .thread_order = true});
      rt.run([] {
        fj::stop_source first, second;
        fj::semaphore permits(0);
        fj::wait_group tasks;
        fj::condition_variable condition;
        std::vector<fj::future<void>> all;
        for (int i = 0; i < 8; ++i) {
          all.push_back(fj::go([&] {
            fj::channel<int> closed(0);
            std::atomic<bool> runs{false};
            {
              tasks.add();
              const auto end_waits = [&] {
                runs = true;
                closed.close();
                condition.notify_all();
                permits.release();
                tasks.done();
                second.request_stop();
                condition.notify_one();
                runs = false;
              };
              const std::stop_callback callback(first.get_token(), end_waits);
              CHECK(!closed.receive());
            }
            CHECK(!runs);
          }));
          all.push_back(fj::go([&] { permits.acquire(); }));
          all.push_back(fj::go([&, token = second.get_token()] {
            CHECK_THROWS_AS(fj::sleep_for(1h, {.stop = &token}), fj::cancelled);
          }));
        }
        fj::sleep_for(100us);
        first.request_stop();
        for (auto& each : all) each.get();
        tasks.wait();
      });
    }
  }
}
