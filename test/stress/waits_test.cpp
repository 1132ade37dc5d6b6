// Lock order and lost wake-ups: fibers and threads that wait for one another by all means at once, on shared objects,
// with deadlines, stops and none. Each step is sure to end if no wake-up is lost and no two locks of the library are
// taken in different orders. A watchdog says where each strand is when one of them makes no step for long.
//
// FORKJOIN_TEST_SECONDS=n: that long, in place of a number of rounds. FORKJOIN_TEST_SEED=n: other steps, and other
// chaos.
//
// Bugs that were put in, and found: a strand that suspends though it has been woken; selects that take their locks in
// different orders; a wake-up that is lost where the first wait of a queue has ended already. It found that a wait for
// a condition, in chaos, armed its timer at another P than it had made room at.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <utility>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "test/progress.hpp"
#include "test/support.hpp"
#include "test/waits.hpp"

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using number = std::uint64_t;

number from_environment(const char* name, number otherwise) {
  const char* const text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct question {
  fj::send_channel<number> answer_to;
  number value;
};

// What all strands of a round share. What a lock guards is no atomic: ThreadSanitizer looks at it, too.
struct world {
  explicit world(fj::runtime& rt) : rt(rt) {}

  fj::runtime& rt;
  std::array<fj::mutex, 4> mutexes;
  std::array<unsigned, 4> inside{};
  std::array<fj::shared_mutex, 2> shared;
  std::array<number, 2> written{};
  fj::semaphore permits{3};
  std::atomic<unsigned> permitted{0};
  std::array<fj::channel<question>, 3> ask{fj::channel<question>(0), fj::channel<question>(0),
                                           fj::channel<question>(2)};
  std::atomic<number> asked{0}, answered{0};
  const fj::channel<number> never{0};
  fj::mutex pool_mutex;
  fj::condition_variable not_empty, not_full;
  static constexpr unsigned room = 2;
  unsigned pool = room;
  std::atomic<number> wrong{0}, limited{0};

  void expect(bool right) { wrong += !right; }
};

// One strand that makes random steps.
class walker {
 public:
  walker(world& w, test::place& p, number seed) : w_(w), at_(p), dice_(seed) {}

  void step() {
    switch (dice_.below(11)) {
      case 0:
      case 1:
      case 2:
        return climb(0);
      case 3:
        return ask();
      case 4:
        return put_and_get();
      case 5:
        return close_while_sending();
      case 6:
        return fork();
      case 7:
        return wait_for_group();
      case 8:
        return stop_in_vain();
      case 9:
        return wait_for_fiber();
      case 10:
        return wait_in_some_way();
    }
  }

  void count_step() { ++at_.steps; }

 private:
  // Calls wait(options) with a deadline, with a token that is asked meanwhile, or mostly without. Whether no limit
  // ended it.
  template <class Wait>
  bool with_limit(Wait wait) {
    switch (dice_.below(5)) {
      case 0:
        try {
          wait({.until = clock_type::now() + std::chrono::microseconds(dice_.below(100))});
          return true;
        } catch (const fj::timed_out&) {}
        break;
      case 1: {
        fj::stop_source source;
        const fj::stop_token token = source.get_token();
        auto stopper = w_.rt.go([=, yields = dice_.below(4)]() mutable {
          for (unsigned i = 0; i < yields; ++i) fj::yield();
          source.request_stop();
        });
        bool stopped = false;
        try {
          wait({.stop = &token});
        } catch (const fj::cancelled&) {
          stopped = true;
        }
        stopper.get();
        if (!stopped) return true;
        break;
      }
      default:
        wait({});
        return true;
    }
    ++w_.limited;
    return false;
  }

  // Locks in the order of their numbers, mutexes before shared ones before permits, and something that needs none
  // inside.
  void climb(unsigned from) {
    const unsigned i = from + dice_.below(static_cast<unsigned>(w_.mutexes.size()));
    if (i >= w_.mutexes.size()) return dice_.once_in(2) ? read_or_write() : take_permit();
    at_.where = "mutex";
    fj::mutex& m = w_.mutexes[i];
    if (dice_.once_in(8) ? !m.try_lock() : !with_limit([&](fj::wait_options limit) { m.lock(limit); })) return;
    const std::scoped_lock lock(std::adopt_lock, m);
    w_.expect(w_.inside[i]++ == 0);
    if (dice_.once_in(3)) climb(i + 1);
    pause();
    --w_.inside[i];
  }

  void read_or_write() {
    const unsigned i = dice_.below(static_cast<unsigned>(w_.shared.size()));
    fj::shared_mutex& m = w_.shared[i];
    if (dice_.once_in(3)) {
      at_.where = "shared_mutex, write";
      if (!with_limit([&](fj::wait_options limit) { m.lock(limit); })) return;
      const std::scoped_lock lock(std::adopt_lock, m);
      const number before = w_.written[i]++;
      pause();
      w_.expect(w_.written[i] == before + 1);
    } else {
      at_.where = "shared_mutex, read";
      if (!with_limit([&](fj::wait_options limit) { m.lock_shared(limit); })) return;
      const std::shared_lock lock(m, std::adopt_lock);
      const number before = w_.written[i];
      pause();
      w_.expect(w_.written[i] == before);
    }
  }

  void take_permit() {
    at_.where = "semaphore";
    if (!with_limit([&](fj::wait_options limit) { w_.permits.acquire(limit); })) return;
    w_.expect(++w_.permitted <= 3);
    pause();
    --w_.permitted;
    w_.permits.release();
  }

  // In the middle of a lock: what is sure to end without one.
  void pause() {
    switch (dice_.below(8)) {
      case 0:
        at_.where = "yield";
        return fj::yield();
      case 1:
        at_.where = "sleep";
        return fj::sleep_for(std::chrono::microseconds(dice_.below(50)));
      case 2:
        return ask();
      default:
        return;
    }
  }

  // Every question that was sent is answered.
  void ask() {
    const fj::channel<number> answer(dice_.below(2));
    const question q{answer, dice_.next()};
    bool sent = false;
    const auto note = [&] { sent = true; };
    const auto& one = w_.ask[dice_.below(3)];
    const auto& other = w_.ask[dice_.below(3)];
    switch (dice_.below(4)) {
      case 0:
        at_.where = "send of a question";
        sent = with_limit([&](fj::wait_options limit) { one.send(q, limit); });
        break;
      case 1:
        at_.where = "select of a question";
        with_limit([&](fj::wait_options limit) {
          fj::select(limit, fj::on_send(one, q, note), fj::on_receive(w_.never, [](std::optional<number>) {}),
                     fj::on_send(other, q, note));
        });
        break;
      case 2:
        at_.where = "select of a question, with a time";
        fj::select(fj::on_send(one, q, note), fj::on_send(other, q, note),
                   fj::after(std::chrono::microseconds(dice_.below(50)), [] {}));
        break;
      case 3:
        sent = one.try_send(question(q));
        break;
    }
    if (!sent) return;
    ++w_.asked;
    at_.where = "receive of an answer";
    w_.expect(answer.receive() == q.value + 1);
  }

  // A pool that is full at first: each takes one and puts it back.
  void put_and_get() {
    at_.where = "condition: not empty";
    {
      std::unique_lock lock(w_.pool_mutex);
      if (!with_limit([&](fj::wait_options limit) { w_.not_empty.wait(lock, [&] { return w_.pool > 0; }, limit); }))
        return;
      --w_.pool;
    }
    dice_.once_in(2) ? w_.not_full.notify_one() : w_.not_full.notify_all();
    if (dice_.once_in(4)) fj::yield();
    at_.where = "condition: not full";
    {
      std::unique_lock lock(w_.pool_mutex);
      w_.not_full.wait(lock, [&] { return w_.pool < world::room; });
      ++w_.pool;
    }
    dice_.once_in(2) ? w_.not_empty.notify_one() : w_.not_empty.notify_all();
  }

  // What was sent before the close is received, and senders that wait learn of it.
  void close_while_sending() {
    at_.where = "a channel that is closed";
    const fj::channel<number> c(dice_.below(3));
    std::array<fj::future<number>, 2> senders;
    for (auto& each : senders) {
      each = w_.rt.go([to = fj::send_channel<number>(c)] {
        number sum = 0;
        try {
          for (number i = 1;; ++i) {
            to.send(i);
            sum += i;
          }
        } catch (const fj::channel_closed&) {}
        return sum;
      });
    }
    number sum = 0;
    for (unsigned n = dice_.below(6); n > 0; --n) sum += *c.receive();
    c.close();
    for (const number rest : c) sum += rest;
    for (auto& each : senders) sum -= each.get();
    w_.expect(sum == 0);
  }

  void fork() {
    const number seeds[2] = {dice_.next(), dice_.next()};
    const auto branch = [&](number seed) {
      walker one(w_, at_, seed);
      one.dice_.once_in(2) ? one.climb(0) : one.ask();
    };
    fj::fork_join([&] { branch(seeds[0]); }, [&] { branch(seeds[1]); });
  }

  void wait_for_group() {
    at_.where = "wait_group";
    fj::wait_group all;
    int done[3] = {};
    std::vector<fj::future<void>> fibers;
    for (int& each : done) {
      all.add();
      fibers.push_back(w_.rt.go([&] {
        each = 1;
        all.done();
      }));
    }
    all.wait();
    w_.expect(std::accumulate(std::begin(done), std::end(done), 0) == 3);
    for (auto& each : fibers) each.get();
  }

  // A fiber that only a stop ends.
  void stop_in_vain() {
    at_.where = "a fiber that is asked to stop";
    auto waits = w_.rt.go([never = w_.never, way = dice_.below(3)](fj::stop_token stop) {
      try {
        const auto nothing = [](std::optional<number>) {};
        if (way == 0) never.receive({.stop = &stop});
        if (way == 1) fj::select({.stop = &stop}, fj::on_receive(never, nothing), fj::on_receive(never, nothing));
        if (way == 2) fj::sleep_for(1h, {.stop = &stop});
      } catch (const fj::cancelled&) {
        return true;
      }
      return false;
    });
    for (unsigned i = dice_.below(4); i > 0; --i) fj::yield();
    waits.request_stop();
    w_.expect(waits.get());
  }

  void wait_for_fiber() {
    at_.where = "future";
    auto fiber = w_.rt.go([value = dice_.next()] {
      fj::yield();
      return value;
    });
    while (!with_limit([&](fj::wait_options limit) { fiber.wait(limit); })) {}
    fiber.get();
  }

  // Any kind of wait, opened while it begins, waits, or is ended by a limit.
  void wait_in_some_way() {
    const auto way = test::ways_to_wait[dice_.below(static_cast<unsigned>(test::ways_to_wait.size()))]();
    at_.where = "each way to wait";
    auto waits = w_.rt.go([&, seed = dice_.next()] { walker(w_, at_, seed).with_limit(way.wait); });
    for (unsigned i = dice_.below(4); i > 0; --i) fj::yield();
    way.open();
    waits.get();
  }

  world& w_;
  test::place& at_;
  test::dice dice_;
};

// Answers until all channels are closed.
void answer(world& w, unsigned which) {
  auto open = w.ask;
  const auto reply = [&](fj::channel<question>& from) {
    return [&](std::optional<question> q) {
      if (!q) {
        from = {};
        return;
      }
      ++w.answered;
      q->answer_to.send(q->value + 1);
    };
  };
  while (open[0] || open[1] || open[2])
    fj::select(fj::on_receive(open[which], reply(open[which])), fj::on_receive(open[0], reply(open[0])),
               fj::on_receive(open[1], reply(open[1])), fj::on_receive(open[2], reply(open[2])));
}

struct setting {
  unsigned procs;
  bool every_fork, chaotic;
};

void check_round(const setting& s, number seed, unsigned steps) {
  test::dice dice(seed);
  fj::options chosen = test::with(s.procs, s.every_fork ? test::stealing::every_fork : test::stealing::by_need);
  chosen.chaos = s.chaotic ? dice.next() | 1 : 0;
  chosen.go_stack_size = std::size_t{1} << 20;  // sanitizers make frames large
  char what[128];
  std::snprintf(what, sizeof(what), "P = %u%s%s, round %llu", s.procs, s.every_fork ? ", every fork stolen" : "",
                s.chaotic ? ", chaos" : "", static_cast<unsigned long long>(seed));
  CAPTURE(what);
  constexpr unsigned fibers = 16, threads = 2;
  std::deque<test::place> places(fibers + threads + 1);  // the last one is the round's
  fj::runtime rt(chosen);
  world w(rt);
  {
    places.back().where = "the round";
    const test::progress_watchdog dog(places, what);
    const auto walk = [&](test::place& at, number own) {
      walker one(w, at, own);
      try {
        for (unsigned i = 0; i < steps; ++i) {
          one.step();
          one.count_step();
        }
      } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: in \"%s\", \"%s\" was thrown\n", what, at.where.load(), e.what());
        w.expect(false);
      }
      at.ended = true;
    };
    std::vector<fj::future<void>> answers, walks;
    for (unsigned i = 0; i < 3; ++i) answers.push_back(rt.go([&w, i] { answer(w, i); }));
    for (unsigned i = 0; i < fibers; ++i)
      walks.push_back(rt.go([&, own = dice.next(), &at = places[i]] { walk(at, own); }));
    std::vector<std::thread> outside;
    for (unsigned i = 0; i < threads; ++i)
      outside.emplace_back([&, own = dice.next(), &at = places[fibers + i]] { walk(at, own); });
    for (std::thread& each : outside) each.join();
    for (auto& each : walks) each.get();
    for (const auto& each : w.ask) each.close();
    for (auto& each : answers) each.get();
    places.back().ended = true;
  }
  CHECK(w.wrong == 0);
  CHECK(w.asked == w.answered);
  CHECK(w.asked > 0);
  CHECK(w.limited > 0);
  CHECK(w.pool == world::room);
}

}  // namespace

TEST_CASE("waits: all ways to wait at once, in random steps") {
  const number seconds = from_environment("FORKJOIN_TEST_SECONDS", 0);
  const number base = from_environment("FORKJOIN_TEST_SEED", 1);
  const auto end = clock_type::now() + std::chrono::seconds(seconds);
  number rounds = 0;
  do {
    for (const unsigned p : {1u, 2u, 8u, 64u})
      for (const bool every_fork : {false, true})
        for (const bool chaotic : {false, true})
          check_round({p, every_fork, chaotic}, base * 1'000'000 + rounds++, test::divided(1000u));
  } while (clock_type::now() < end);
  MESSAGE(rounds << " rounds");
}
