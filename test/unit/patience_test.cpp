// For how long a worker that looks for work stays away from owners of small loops, by a clock of the test's own.
//
// Each test was tried with a bug put in, as its note says.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/sched/find.hpp"
#include "runtime/sched/hooks.hpp"
#include "runtime/sched/scheduler.hpp"
#include "test/sockets.hpp"
#include "test/support.hpp"

namespace {

namespace tuning = fj::detail::tuning;
using fj::detail::current_deque;
using fj::detail::current_worker;

// Time passes in pauses alone.
struct slow_motion {
  static constexpr std::int64_t pause_ns = 20;
  static inline std::int64_t clock;
  static inline std::function<void()> at_pause;  // must not throw

  static std::int64_t now_ns() noexcept { return clock; }
  static void pause() noexcept {
    clock += pause_ns;
    if (at_pause) at_pause();
  }
  static void yield_thread() noexcept {}
  static void sleep_ns(std::int64_t time) noexcept { clock += time; }
};

// Between two questions whether something is to be had.
constexpr std::int64_t step = tuning::calm_pauses * slow_motion::pause_ns;

bool is_never_needed() { return false; }

// What a worker that holds the only P sees of its own deque, in whose small loops it makes progress.
class looker {
 public:
  looker() {
    slow_motion::clock = 1'000'000'000;
    slow_motion::at_pause = nullptr;
    static_cast<void>(stays_away(0));
  }
  ~looker() { slow_motion::at_pause = nullptr; }

  // For how long, after a round that took so long.
  std::int64_t stays_away(std::int64_t round_took, bool (*needed)() = is_never_needed, bool saw_records = false) {
    current_deque().progress().make();
    slow_motion::clock += round_took - slow_motion::pause_ns;  // the wait begins with a pause
    const std::int64_t before = slow_motion::clock + slow_motion::pause_ns;
    CHECK(patience_.waits(*current_worker(), nullptr, saw_records, needed));
    return slow_motion::clock - before;
  }

  // The same, if `happens()` when the worker has stayed away for ten steps.
  std::int64_t stays_away_until(const std::function<void()>& happens) {
    const std::int64_t at = slow_motion::clock + longest + 10 * step;
    bool happened = false;
    slow_motion::at_pause = [&] {
      if (happened || slow_motion::clock < at) return;
      happened = true;
      happens();
    };
    const std::int64_t away = stays_away(longest);
    slow_motion::at_pause = nullptr;
    return away;
  }

  // A round after which it stays away as long as ever.
  static constexpr std::int64_t longest = tuning::most_away_ns;

 private:
  fj::detail::patience<slow_motion> patience_;
};

// With one P, so that no other worker looks.
void in_runtime(void (*body)(fj::runtime&)) {
  const test::watchdog dog("patience", 1);
  fj::runtime rt(test::with_procs(1));
  rt.run([&] { body(rt); });
}

bool is_needed = false;

}  // namespace

// Tried with a wait of one step in each case; tried without the limit.
TEST_CASE("patience: the longer a round takes, the longer the worker stays away from small loops") {
  in_runtime([](fj::runtime&) {
    looker l;
    CHECK(l.stays_away(0) == step);
    for (const std::int64_t round : {100, 300, 1000}) {
      const std::int64_t away = l.stays_away(round);
      CHECK(away >= round * tuning::rounds_away);
      CHECK(away < round * tuning::rounds_away + step);
    }
    const std::int64_t away = l.stays_away(looker::longest);
    CHECK(away >= tuning::most_away_ns);
    CHECK(away < tuning::most_away_ns + step);
  });
}

// Tried without each of the questions in look_away and any_to_take, but those for timers and for public records.
TEST_CASE("patience: what comes meanwhile ends the wait") {
  in_runtime([](fj::runtime& rt) {
    looker l;
    const auto is_early = [](std::int64_t away) { return away >= 10 * step && away <= 12 * step; };

    is_needed = false;
    slow_motion::at_pause = [at = slow_motion::clock + looker::longest + 10 * step] {
      is_needed = slow_motion::clock >= at;
    };
    CHECK(is_early(l.stays_away(looker::longest, [] { return is_needed; })));

    // Of two fibers that a strand makes ready one runs next, and thieves leave it to its P; the other comes into the
    // ring.
    fj::channel<bool> values(0);
    const auto receive = [&] { CHECK(values.receive()); };
    fj::future<void> next = fj::go(receive), after = fj::go(receive);
    fj::yield();  // both wait
    CHECK(is_early(l.stays_away_until([&] {
      values.send(true);
      values.send(true);
    })));
    next.get();
    after.get();

    std::optional<fj::future<void>> from_outside;
    CHECK(is_early(l.stays_away_until([&] { std::thread([&] { from_outside = rt.go([] {}); }).join(); })));
    from_outside->get();

    const test::pair_of_descriptors pipe = test::make_pipe();
    fj::future<void> reader = fj::go([&] {
      char byte;
      fj::read(pipe.first, &byte, 1);
    });
    fj::yield();                                   // the reader waits
    CHECK(l.stays_away(looker::longest) == step);  // the rounds of this worker look into the poller
    fj::write(pipe.second, "", 1);
    reader.get();
  });
}

// Tried without the question whether a deque has public records.
TEST_CASE("patience: a public record ends the wait") {
  const test::fences membarrier(test::stealing::all_public);  // each is public at once
  in_runtime([](fj::runtime&) {
    looker l;
    fj::fork_join([&] { CHECK(l.stays_away(looker::longest) == step); }, [] {});
    CHECK(l.stays_away(looker::longest) >= tuning::most_away_ns);
  });
}

// Tried with force after the wait: against the owner that made progress before it.
TEST_CASE("patience: no record of an owner that comes from part to part is forced") {
  if (!test::may_fence_others()) return;
  in_runtime([](fj::runtime& rt) {
    looker l;
    fj::fork_join(
        [&] {
          for (int round = 0; round != 100; ++round) static_cast<void>(l.stays_away(1000, is_never_needed, true));
        },
        [] {});
    CHECK(rt.stats().total().exposures == 0);
  });
}

// A job that no strand works for.
fj::detail::job& another_job() {
  alignas(fj::detail::job) static char memory[sizeof(fj::detail::job)];
  return reinterpret_cast<fj::detail::job&>(memory);
}

// Tried with progress of all jobs, and with changes of fibers of all jobs.
TEST_CASE("patience: what other jobs do does not keep a caller awake, and it watches none of their deques") {
  in_runtime([](fj::runtime&) {
    looker l;  // the strand's own job makes progress
    fj::detail::patience<slow_motion> patience;
    current_deque().for_thieves().request();
    current_worker()->spinning = true;
    const std::int64_t begin = slow_motion::clock;
    do {
      current_deque().progress().make();
      current_worker()->proc->runs = current_worker()->proc->runs + 1;
      REQUIRE(slow_motion::clock - begin < 10 * tuning::search_ns);
    } while (patience.waits(*current_worker(), &another_job(), false, is_never_needed));
    current_worker()->spinning = false;
    CHECK(!current_deque().asks_nothing());  // there is a request, and it is not watched
  });
}

// Tried without left_to_others: the caller looks for ever.
TEST_CASE("patience: a caller hands its P over if one is idle though something is left to others") {
  const test::watchdog dog("left to others", 3);
  fj::runtime rt(test::with_procs(3));
  rt.go([] {}).get();  // so there is a thread of the runtime's own
  rt.run([&] {
    std::atomic<bool> makes{false}, over{false};
    fj::fork_join(
        [&] {
          test::spin_until([&] { return makes.load(); });
          fj::detail::worker& m = *current_worker();
          auto& dispatcher = m.sched().dispatcher();
          test::spin_until([&] { return dispatcher.any_idle() && !dispatcher.any_spinning(); });
          dispatcher.start_spinning(m);  // as long as it does, none is woken
          std::optional<fj::future<void>> left;
          std::thread([&] { left = rt.go([] {}); }).join();
          CHECK(!fj::detail::work_search::find_work_of(*current_deque().whose(), m));
          over = true;
          dispatcher.stop_spinning(m);
          left->get();
        },
        [&] {
          // The progress of its own job keeps a caller awake.
          for (makes = true; !over;) current_deque().progress().make();
        });
  });
}
