// Urgent fibers (fj::go_options::urgent): they go before others, strands that compute give way to them, and the others
// go on.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/abi/os/ticks.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "forkjoin/parallel_for.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/scope.hpp"
#include "forkjoin/task_group.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/sched/processor.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/urgent.hpp"
#include "runtime/sched/worker.hpp"
#include "test/support.hpp"

namespace {

namespace tuning = fj::detail::tuning;

int leaves(int depth) {
  if (depth == 0) return 1;
  const auto [left, right] = fj::fork_join([&] { return leaves(depth - 1); }, [&] { return leaves(depth - 1); });
  return left + right;
}

// An urgent fiber that waits, and counts how often it has gone on. In a strand.
class answering {
 public:
  answering()
      : fiber_(fj::go({.urgent = true}, [this] {
          while (questions_.receive()) answers = answers + 1;
          answers = answers + 1;
        })) {
    while (fj::count_fibers().waiting == 0) fj::yield();
  }
  ~answering() { fiber_.get(); }

  void ask() { questions_.send(1); }
  void end() { questions_.close(); }

  std::atomic<int> answers{0};

 private:
  fj::channel<int> questions_{0};
  fj::future<void> fiber_;
};

}  // namespace

// Without the request in ready_urgent there is no answer before the monitor's look.
TEST_CASE("urgent: who wakes an urgent fiber lets it run at the next fork, chunk or operation") {
  const test::watchdog dog("the strand that wakes", 1);
  fj::runtime rt(test::with_procs(1));
  rt.go([] {
      answering there;
      fj::channel<int> other(1);
      CHECK(there.answers == 0);
      there.ask();
      fj::fork_join([] {}, [] {});
      CHECK(there.answers == 1);
      there.ask();
      other.send(1);
      CHECK(there.answers == 2);
      there.ask();
      CHECK(!other.try_send(1));
      CHECK(there.answers == 3);
      there.ask();
      constexpr long most = 10'000'000;
      long answered_at = most;
      fj::parallel_for(0L, most, [&](long i) {
        if (answered_at == most && there.answers.load(std::memory_order_relaxed) == 4) answered_at = i;
      });
      CHECK(answered_at < most);
      there.end();
    }).get();
  CHECK(rt.stats().total().urgent_turns >= 4);
  CHECK(rt.stats().total().most_urgent_ready_ns > 0);
}

TEST_CASE("urgent: urgent fibers go before what runs next, what is in the queue, and what goes on soon") {
  const test::watchdog dog("the order", 1);
  fj::runtime rt(test::with_procs(1));
  std::string turns;
  fj::promise<void> from_outside;
  rt.go([&] {
      fj::channel<int> begin(0);
      std::vector<fj::future<void>> all;
      all.push_back(fj::go([&, got = from_outside.get_future()]() mutable {
        got.get();
        turns += 's';
      }));
      for (int i = 0; i != 2; ++i) {
        all.push_back(fj::go({.urgent = true}, [&] {
          static_cast<void>(begin.receive());
          turns += 'u';
        }));
      }
      while (fj::count_fibers().waiting != 3) fj::yield();
      for (int i = 0; i != 3; ++i) all.push_back(fj::go([&] { turns += 'o'; }));
      std::thread([&] { from_outside.set_value(); }).join();
      begin.close();
      for (auto& each : all) each.get();
    }).get();
  CAPTURE(turns);
  CHECK(turns.size() == 6);
  CHECK(turns.substr(0, 2) == "uu");
}

// urgent_turns counts them. With one P, and nothing that takes it for longer than a slice.
TEST_CASE("urgent: a fiber goes before others when it starts and after each wait, whatever has ended that") {
  using namespace std::chrono_literals;
  std::atomic<bool> over{false};
  fj::channel<int> woken(0);
  fj::promise<void> by_thread;
  fj::mutex held;
  struct way {
    const char* name;
    std::function<void()> body;
    std::function<void()> wake;  // once that waits, or is in its call
    unsigned turns;
  };
  const auto receive = [&] { static_cast<void>(woken.receive()); };
  const auto send = [&] { woken.send(1); };
  const way ways[] = {
      {"a channel", receive, send, 2},
      {"a channel, after a yield",
       [&] {
         fj::yield();
         receive();
       },
       send, 2},
      {"a mutex", [&] { const std::scoped_lock lock(held); }, [&] { held.unlock(); }, 2},
      {"a time", [&] { fj::sleep_for(20ms); }, [] {}, 2},  // which is not over before it waits
      {"a thread outside", [&, got = std::make_shared<fj::future<void>>(by_thread.get_future())] { got->get(); },
       [&] { std::thread([&] { by_thread.set_value(); }).join(); }, 2},
      // The child that ends last goes on as its parent, without a turn.
      {"a child of its scope", [&] { fj::with_scope([&](auto& s) { s.fork(receive); }); }, send, 2},
      {"a blocking call that lost its P",
       [&] { fj::blocking_now([&] { test::spin_until([&] { return over.load(); }); }); }, [&] { over = true; }, 2},
  };
  for (const way& each : ways) {
    CAPTURE(each.name);
    const test::watchdog dog(each.name, 1);
    fj::runtime rt(test::with_procs(1));
    rt.go([&] {
        held.lock();
        auto urgent = fj::go({.urgent = true}, each.body);
        do fj::yield();
        while (fj::count_fibers().ready != 0);
        each.wake();
        while (fj::count_fibers().ready == 0 && !urgent.ready()) {}
        urgent.get();
        if (std::string(each.name) != "a mutex") held.unlock();
      }).get();
    CHECK(rt.stats().total().urgent_turns == each.turns);
  }
}

TEST_CASE("urgent: what go starts goes first, and what an urgent fiber starts or wakes is not urgent") {
  const test::watchdog dog("what go starts", 1);
  fj::runtime rt(test::with_procs(1));
  std::string turns;
  rt.go([&] {
      fj::channel<int> woken(0);
      auto waits = fj::go([&] { static_cast<void>(woken.receive()); });
      while (fj::count_fibers().waiting == 0) fj::yield();
      auto other = fj::go([&] { turns += 'o'; });
      auto urgent = fj::go({.urgent = true}, [&] {
        turns += 'u';
        woken.send(1);
        fj::go([] {}).get();
      });
      other.get(), urgent.get(), waits.get();
    }).get();
  CHECK(turns == "uo");
  CHECK(rt.stats().total().urgent_turns == 2);  // once started, and once after get
}

// A branch that another worker, or the same one later, takes has a strand of its own, which is as urgent.
TEST_CASE("urgent: the branches of an urgent fiber that wait are urgent when they become ready") {
  const test::watchdog dog("branches", 1);
  fj::runtime rt(test::with_procs(1));
  std::string turns;
  rt.go([&] {
      fj::channel<int> first(0), second(0);
      auto urgent = fj::go({.urgent = true}, [&] {
        fj::fork_join([&] { static_cast<void>(first.receive()); },
                      [&] {
                        static_cast<void>(second.receive());
                        turns += 'u';
                      });
      });
      while (fj::count_fibers().waiting != 2) fj::yield();
      auto other = fj::go([&] { turns += 'o'; });
      second.close();
      other.get();
      first.close();
      urgent.get();
    }).get();
  CHECK(turns == "uo");
}

TEST_CASE("urgent: fibers that wake one another for ever do not keep the others from running, with one P") {
  const test::watchdog dog("urgent fibers that talk", 1);
  constexpr int enough = 20;
  fj::runtime rt(test::with_procs(1));
  std::atomic<int> forks{0}, yields{0}, begun{0};
  std::atomic<bool> over{false};
  rt.go([&] {
      fj::channel<int> there(0), back(0);
      auto asks = fj::go({.urgent = true}, [&] {
        while (!over) {
          there.send(1);
          static_cast<void>(back.receive());
        }
        there.close();
      });
      auto answers = fj::go({.urgent = true}, [&] {
        while (there.receive()) back.send(1);
      });
      auto that_forks = fj::go([&] {
        while (!over) forks += leaves(3) == 8;
      });
      auto that_yields = fj::go([&] {
        while (!over) {
          fj::yield();
          ++yields;
        }
      });
      while (forks < enough || yields < enough || begun < enough) {
        auto brief = fj::go([&] { ++begun; });
        fj::yield();
        brief.get();
      }
      over = true;
      asks.get(), answers.get(), that_forks.get(), that_yields.get();
    }).get();
  CHECK(begun >= enough);
}

TEST_CASE(
    "urgent: an urgent fiber that yields goes behind the others, and so does one that computes for longer than a "
    "slice") {
  const test::watchdog dog("one that yields", 1);
  fj::runtime rt(test::with_procs(1));
  int yields = 0;
  bool ran = false;
  rt.go([&] {
      auto urgent = fj::go({.urgent = true}, [&] {
        while (!ran) {
          fj::yield();
          ++yields;
        }
      });
      auto other = fj::go([&] { ran = true; });
      other.get();
      urgent.get();
    }).get();
  CHECK(yields <= 2);

  std::atomic<bool> others_turn{false};
  rt.go([&] {
      auto urgent = fj::go({.urgent = true}, [&] {
        while (!others_turn) leaves(3);
      });
      auto other = fj::go([&] { others_turn = true; });
      other.get();
      urgent.get();
    }).get();
  CHECK(others_turn);
}

// With a slice that never ends for urgent strands, it would have every second turn.
TEST_CASE("urgent: one that never waits is urgent for one slice") {
  const test::watchdog dog("one that never waits", 1);
  fj::runtime rt(test::with_procs(1));
  constexpr int rounds = 4;
  std::atomic<int> turns_of_others{0};
  rt.go([&] {
      const auto all_had = [&] { return turns_of_others >= rounds * 2; };
      auto urgent = fj::go({.urgent = true}, [&] {
        while (!all_had()) leaves(3);
      });
      std::vector<fj::future<void>> others;
      for (int i = 0; i != 2; ++i) {
        others.push_back(fj::go([&] {
          while (!all_had()) {
            ++turns_of_others;
            fj::yield();
          }
        }));
      }
      for (auto& each : others) each.get();
      urgent.get();
    }).get();
  CHECK(rt.stats().total().urgent_turns == 1);
}

TEST_CASE("urgent: a fiber that loses its P in a blocking call keeps no place from others") {
  const test::watchdog dog("a blocking call", 1);
  fj::runtime rt(test::with_procs(1));
  rt.go([] {
      std::atomic<bool> over{false};
      auto blocks =
          fj::go({.urgent = true}, [&] { fj::blocking_now([&] { test::spin_until([&] { return over.load(); }); }); });
      while (fj::count_fibers().running < 2) fj::yield();
      answering there;
      there.ask();
      fj::fork_join([] {}, [] {});
      CHECK(there.answers == 1);
      over = true;
      blocks.get();
      there.ask();
      fj::fork_join([] {}, [] {});
      CHECK(there.answers == 2);
      there.end();
    }).get();
}

TEST_CASE("urgent: of the urgent fibers that are ready, half of the Ps serve as many, and the others go on") {
  const test::watchdog dog("half of the Ps", 4);
  constexpr unsigned procs = 4;
  constexpr int forks_to_see = 100;
  fj::runtime rt(test::with_procs(procs));
  std::atomic<bool> over{false};
  std::atomic<int> forks[procs] = {};
  fj::channel<int> woken(0);
  std::vector<fj::future<void>> all;
  for (auto& mine : forks) {
    all.push_back(rt.go([&] {
      while (!over) mine += leaves(3) == 8;
    }));
  }
  for (unsigned i = 0; i != 2 * procs; ++i) {
    all.push_back(rt.go({.urgent = true}, [&] {
      static_cast<void>(woken.receive());
      test::spin_until([&] { return over.load(); });
    }));
  }
  while (fj::count_fibers().waiting != 2 * procs) std::this_thread::yield();
  fj::detail::scheduler* here = nullptr;
  rt.run([&] { here = fj::detail::current_scheduler(); });
  const auto serving = [&] {
    unsigned now = 0;
    for (unsigned i = 0; i != procs; ++i) now += here->all()[i].urgent.runs();
    return now;
  };
  woken.close();
  test::spin_until([&] { return serving() == procs / 2; });
  const int before[procs] = {forks[0], forks[1], forks[2], forks[3]};
  unsigned most = 0;
  test::spin_until([&] {
    most = std::max(most, serving());
    int gone_on = 0;
    for (unsigned i = 0; i != procs; ++i) gone_on += forks[i] - before[i];
    return gone_on >= forks_to_see;
  });
  over = true;
  for (auto& each : all) each.get();
  CHECK(most == procs / 2);
}

TEST_CASE("urgent: started from outside, in a group, on several Ps, and while Ps retire") {
  for (const unsigned p : {1u, 2u, 8u}) {
    const test::watchdog dog("beside strands that fork", p);
    fj::runtime rt(test::with_procs(p));
    std::atomic<bool> over{false};
    std::atomic<int> answers{0};
    std::vector<fj::future<void>> busy;
    for (unsigned i = 0; i != 2 * p; ++i) {
      busy.push_back(rt.go([&] {
        while (!over) leaves(3);
      }));
    }
    for (int i = 0; i != 20; ++i) {
      CHECK(rt.go({.urgent = true}, [i] { return i; }).get() == i);
      if (i == 10) rt.set_procs(1);
      if (i == 15) rt.set_procs(p);
    }
    rt.run([&] {
      fj::task_group all;
      for (int i = 0; i != 20; ++i) static_cast<void>(all.go({.urgent = true}, [&] { ++answers; }));
      all.wait();
    });
    over = true;
    for (auto& each : busy) each.get();
    CHECK(answers == 20);
  }
}

namespace {

// Urgent fibers of all kinds, beside ones that are not, until each has had its turns.
void all_kinds(fj::runtime& rt, unsigned p) {
  using namespace std::chrono_literals;
  constexpr int turns = 8;
  const unsigned busy = std::min(p, 4u) + 1;
  std::atomic<bool> over{false};
  std::atomic<int> others{0}, sum{0};
  std::vector<fj::future<void>> endless, all;
  for (unsigned i = 0; i != busy; ++i) {
    endless.push_back(rt.go({.urgent = i % 2 == 0}, [&] {
      while (!over) leaves(2);
    }));
    all.push_back(rt.go([&] {
      for (int k = 0; k != turns; ++k) {
        ++others;
        fj::yield();
      }
    }));
  }
  fj::channel<int> there(0), back(1);
  all.push_back(rt.go({.urgent = true}, [&] {
    for (int k = 0; k != turns; ++k) {
      there.send(k);
      sum += *back.receive() - k;
    }
    there.close();
  }));
  all.push_back(rt.go({.urgent = true}, [&] {
    for (const int k : there) back.send(k + 1);
  }));
  for (int i = 0; i != 3; ++i) {
    all.push_back(rt.go({.urgent = true}, [&] {
      for (int k = 0; k != turns / 4; ++k) fj::sleep_for(1ms);
      ++sum;
    }));
    all.push_back(rt.go({.urgent = true}, [&] {
      for (int k = 0; k != turns / 4; ++k) fj::blocking([] { std::this_thread::sleep_for(100us); });
      fj::blocking_now([] {});
      ++sum;
    }));
    all.push_back(
        rt.go({.urgent = true}, [&] { fj::fork_join([&] { fj::sleep_for(1ms); }, [&] { sum += leaves(6) == 64; }); }));
    all.push_back(rt.go([&] {
      for (int k = 0; k != turns; ++k) fj::go({.urgent = true}, [&] { fj::yield(); }).get();
      ++sum;
    }));
  }
  rt.set_procs(1);
  rt.run([&] { fj::parallel_for(0, 10, [&](int) { fj::yield(); }); });
  rt.set_procs(p);
  for (auto& each : all) each.get();
  over = true;
  for (auto& each : endless) each.get();
  CHECK(others == turns * static_cast<int>(busy));
  CHECK(sum == turns + 12);
}

}  // namespace

TEST_CASE("urgent: of all kinds, with every fork stolen, with rare schedules, and with a trace") {
  const std::string trace =
      (std::filesystem::temp_directory_path() / ("forkjoin-urgent-" + std::to_string(getpid()))).string();
  for (const unsigned p : {1u, 8u}) {
    for (const char* const how : {"by need", "every fork", "chaos", "trace"}) {
      const std::string name = std::string("urgent fibers of all kinds: ") + how;
      const test::watchdog dog(name.c_str(), p);
      fj::options with = test::with_procs(p);
      with.steal_every_fork = name.ends_with("every fork");
      with.chaos = name.ends_with("chaos") ? 7 * p + 1 : 0;
      with.trace = name.ends_with("trace") ? trace.c_str() : nullptr;
      fj::runtime rt(with);
      all_kinds(rt, p);
    }
  }
  std::filesystem::remove(trace);
}

TEST_CASE("urgent: ten thousand at once") {
  const int count = test::divided(10'000);
  for (const unsigned p : {1u, 8u, 64u}) {
    const test::watchdog dog("ten thousand at once", p);
    fj::runtime rt(test::with_procs(p));
    std::atomic<bool> over{false};
    std::atomic<int> ran{0};
    std::vector<fj::future<void>> all;
    fj::channel<int> begin(0);
    auto computes = rt.go([&] {
      while (!over) leaves(3);
    });
    for (int i = 0; i != count; ++i) {
      all.push_back(rt.go({.urgent = true}, [&, i] {
        if (i % 2 == 0) static_cast<void>(begin.receive());
        ++ran;
      }));
    }
    begin.close();
    for (auto& each : all) each.get();
    over = true;
    computes.get();
    CHECK(ran == count);
  }
}

TEST_CASE("urgent: what fibers do is told with the word") {
  const test::watchdog dog("describe_fibers", 1);
  fj::runtime rt(test::with_procs(1));
  rt.go([] {
      answering there;
      CHECK(fj::describe_fibers().find("; urgent\n") != std::string::npos);
      there.end();
      CHECK(fj::describe_fibers().find(": urgent and ready, and wait for a P\n") != std::string::npos);
    }).get();
}

// The strands compute and hear nothing, so each request stays. Tried without attend_urgent in stop_spinning, without
// the request in take_urgent, and with an empty begin_run.
TEST_CASE("urgent: who stops looking for work, begins a run, or has no time left asks a P for the urgent fiber") {
  const test::watchdog dog("who asks", 2);
  fj::runtime rt(test::with_procs(2));
  std::atomic<bool> over{false};
  std::atomic<int> begun{0};
  std::atomic<fj::detail::scheduler*> where{nullptr};
  std::vector<fj::future<void>> all;
  for (int i = 0; i != 2; ++i) {
    all.push_back(rt.go([&] {
      where = fj::detail::current_scheduler();
      ++begun;
      test::spin_until([&] { return over.load(); });
    }));
  }
  test::spin_until([&] { return begun.load() == 2; });
  fj::detail::scheduler& here = *where;
  fj::detail::processor &first = here.all()[0], &second = here.all()[1];
  const auto is_asked = [](const fj::detail::processor& p) { return p.urgent_request.concerns(p.runs); };
  const auto refuse = [&] { first.urgent_request.refuse(), second.urgent_request.refuse(); };

  fj::detail::worker looks(here, 99);
  here.dispatcher().start_spinning(looks);
  all.push_back(rt.go({.urgent = true}, [] {}));
  CHECK(!is_asked(first));
  CHECK(!is_asked(second));
  here.dispatcher().stop_spinning(looks);
  CHECK(is_asked(first) != is_asked(second));

  refuse();
  here.dispatcher().begin_run(second);
  CHECK(is_asked(second));
  CHECK(!is_asked(first));

  constexpr std::uint64_t hour_ns = 3'600'000'000'000;
  const std::uint64_t now = fj::detail::os::rough_ns();
  first.urgent.begin(now - hour_ns);
  first.urgent.end(now);
  refuse();
  here.dispatcher().begin_run(first);
  CHECK(!is_asked(first));
  CHECK(here.dispatcher().take_urgent(first) == nullptr);
  CHECK(is_asked(second));
  CHECK(!is_asked(first));

  over = true;
  for (auto& each : all) each.get();
}

TEST_CASE("urgent: half of the Ps in use serve urgent fibers at a time, and one at least") {
  fj::detail::processors all(8);
  fj::detail::urgent_places places;
  for (unsigned taken = 0; taken != 4; ++taken) {
    CHECK(places.any_left(8));
    CHECK(places.any_left(1) == (taken == 0));
    CHECK(places.any_left(3) == (taken == 0));
    places.take(all[taken]);
    CHECK(all[taken].urgent.runs());
  }
  CHECK(!places.any_left(8));
  places.give_back(all[7]);  // that serves none
  CHECK(!places.any_left(8));
  places.give_back(all[0]);
  places.give_back(all[0]);
  CHECK(places.any_left(8));
  CHECK(!places.any_left(7));
}

TEST_CASE("urgent: a P serves urgent fibers for half of its time at most, and for a slice at once") {
  constexpr auto slice = static_cast<std::uint64_t>(tuning::slice_ns);
  constexpr std::uint64_t start = 1000 * slice;
  {
    fj::detail::urgent_time time;
    CHECK(time.any_left(start));
    time.begin(start);
    CHECK(time.runs());
    time.end(start + slice - 1);
    CHECK(!time.runs());
    CHECK(time.any_left(start + slice - 1));
    time.begin(start + slice - 1);
    time.end(start + slice);
    CHECK(!time.any_left(start + slice));
    CHECK(time.any_left(start + slice + 1));
  }
  // As many urgent fibers as it takes, each for so long, and one strand that is cut after so long.
  for (const std::uint64_t serves : {slice / 1000, slice / 3, 2 * slice}) {
    for (const std::uint64_t others : {slice / 1000, slice / 50, slice}) {
      fj::detail::urgent_time time;
      std::uint64_t now = start, served = 0;
      while (now < start + 1000 * slice) {
        if (time.any_left(now)) {
          time.begin(now);
          time.end(now += serves);
          served += serves;
        } else {
          now += others;
        }
      }
      CAPTURE(serves);
      CAPTURE(others);
      CHECK(served <= (now - start + slice) / 2 + serves);
      CHECK(served >= (now - start) / 2 - slice);
    }
  }
}
