// The poller: how a worker sleeps in it, and how strands that read meet events, a deadline and a close. The kernel is retold: its
// futex, its eventfd, and its edges.

#include <cstdint>

#include "runtime/os/thread_safety.hpp"
#include "runtime/schedule/poll_entry.hpp"
#include "runtime/schedule/sleep_word.hpp"
#include "runtime/schedule/timer_heap.hpp"
#include "runtime/sync/wait_word.hpp"
#include "test/model/scenario.hpp"

namespace model {
namespace {

using fj::detail::claimed_polls;
using fj::detail::io_way;
using fj::detail::locked;
using fj::detail::poll_end;

// The kernel's lock of a futex; one futex at a time.
machine::mutex* kernel = nullptr;
bool on_futex = false;

// Of the others than the sleeper, which is the first.
bool others_have_ended() { return system_state.ended[1] && system_state.ended[2]; }

struct futexes : machine {
  static std::int64_t now_ns() { return 0; }
  static void futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected) {
    {
      const locked lock(*kernel);
      if (word.load(std::memory_order_relaxed) != expected) return;
      on_futex = true;
    }
    wait_until([] { return !on_futex || others_have_ended(); });
    check(!on_futex, "a signal ends a sleep");
  }
  static bool futex_wait_until(atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t) {
    futex_wait(word, expected);
    return true;
  }
  static void futex_wake(atomic<std::uint32_t>&) {
    const locked lock(*kernel);
    on_futex = false;
  }
};

/// An eventfd, and nothing else happens.
struct eventfd {
  bool is_open() { return true; }
  void sleep(claimed_polls&, std::int64_t) {
    wait_until([this] { return interrupted || others_have_ended(); });
    check(interrupted, "a signal ends a sleep");
    interrupted = false;
  }
  void interrupt() { interrupted = true; }
  bool interrupted = false;  // known outside of the model's memory
};

/// A worker that sleeps here and there, and two that signal it.
class sleep_in_poller : public scenario {
 public:
  sleep_in_poller() {
    kernel = &kernel_;
    on_futex = false;
  }

  void thread(unsigned index) override {
    if (index > 0) {
      told_[index - 1].store(1, std::memory_order_seq_cst);
      word_.signal(poller_);
      return;
    }
    while (told_[0].load(std::memory_order_seq_cst) == 0 || told_[1].load(std::memory_order_seq_cst) == 0)
      word_.sleep(any_of(2) ? fj::detail::never : fj::detail::any_time, poller_, woken_);
  }

 private:
  fj::detail::basic_sleep_word<futexes> word_;
  eventfd poller_;
  claimed_polls woken_;
  machine::mutex kernel_;
  machine::atomic<int> told_[2];
};

using poll_entry = fj::detail::basic_poll_entry<machine>;
using timer_heap = fj::detail::basic_timer_heap<machine>;

/// A strand that reads, with a deadline: operate and wait_inside in runtime/wait/descriptors/{descriptor,watched}.cpp are retold. It
/// goes on, on the thread that wakes it, to its next try.
struct reader final : fj::detail::poll_wait {
  explicit reader(poll_entry& e, machine::atomic<int>& d, timer_heap* t)
      : poll_wait(io_way::reading), entry(e), data(d), timers(t) {}

  struct deadline final : timer_heap::timer {
    explicit deadline(reader& r) : timer_heap::timer(10), of(r) {}
    bool claim_wait() noexcept override { return of.claim(2); }
    void wake() noexcept override { of.goes_on(); }
    reader& of;
  };

  bool claim_wait(poll_end by) noexcept override { return claim(static_cast<unsigned>(by)); }
  void wake() noexcept override { goes_on(); }
  bool claim(unsigned by) {
    check(frame.get() == 1, "the frame of the wait is there");
    return word.claim(by);
  }

  void read() {
    if (!entry.enter()) return end();
    for (;;) {
      const std::uint32_t seen = entry.edges(way);
      if (data.load(std::memory_order_relaxed) > 0) {
        data.fetch_sub(1, std::memory_order_relaxed);
        ++got;
        return leave();
      }
      switch (entry.begin_wait(*this, seen)) {
        case poll_entry::begun::closed:
          return leave();
        case poll_entry::begun::must_try:
          continue;
        case poll_entry::begun::waits:
          break;
      }
      if (timers) timers->arm(alarm);
      context = 1;
      if (word.suspend(this)) return;
      resumed();
      return;
    }
  }

  void goes_on() {
    check(frame.get() == 1, "the frame of the wait is there");
    if (word.wake()) resumed();
  }

  void resumed() {
    check(word.woken(), "a strand that goes on has been woken");
    check(context.get() == 1, "the context was saved");
    const unsigned by = word.winner();
    if (timers && by != 2) timers->disarm(alarm);
    entry.end_wait(*this);
    if (by == static_cast<unsigned>(poll_end::happened)) {
      check(data.load(std::memory_order_relaxed) > 0, "what came before an edge is there");
      data.fetch_sub(1, std::memory_order_relaxed);
      ++got;
    }
    leave();
  }

  void leave() {
    const auto left = entry.leave();
    if (left == poll_entry::left::must_release) {
      check(releases++ == 0, "a number is given back once");
      check(entry.leave() == poll_entry::left::nothing, "the handle is there");
    }
    end();
  }

  void end() {
    frame = 0;
    ended = true;
  }

  poll_entry& entry;
  machine::atomic<int>& data;
  timer_heap* const timers;
  deadline alarm{*this};
  fj::detail::basic_wait_word<machine> word;
  plain<int> context{0}, frame{1};
  int got = 0;
  bool ended = false;  // known outside of the model's memory
  static inline int releases = 0;
};

/// One edge tells of data for two readers.
class two_readers : public scenario {
 public:
  two_readers() { life_ = entry_.open(); }

  void thread(unsigned index) override {
    if (index > 0) return (index == 1 ? first_ : second_).read();
    claimed_polls woken;
    const bool late = any_of(4) == 0;  // an event of an earlier life comes first
    if (late) entry_.happened(static_cast<poll_entry::life>(life_ - 1), true, true, woken);
    check(!woken.any(), "an event of an earlier life wakes none");
    data_.store(2, std::memory_order_relaxed);
    entry_.happened(life_, true, true, woken);
    woken.wake_all();
  }

  void after() override {
    check(first_.ended && second_.ended, "no reader is forgotten");
    check(first_.got == 1 && second_.got == 1, "each has read");
  }

 private:
  poll_entry entry_;
  machine::atomic<int> data_{0};
  poll_entry::life life_ = 0;
  reader first_{entry_, data_, nullptr}, second_{entry_, data_, nullptr};
};

/// An event, a deadline and a close would end one wait.
class race_of_ends : public scenario {
 public:
  race_of_ends() {
    timers_.make_room();
    life_ = entry_.open();
    reader::releases = 0;
  }

  void thread(unsigned index) override {
    if (index == 0) return reader_.read();
    if (index == 1) {
      if (any_of(2)) event();
      timers_.fire_due(10);
      if (any_of(2)) event();
    }
    if (index == 2) {
      claimed_polls woken;
      if (!entry_.close(woken)) return;
      check(!entry_.close(none_), "a descriptor is closed once");
      woken.wake_all();
      if (entry_.leave() != poll_entry::left::must_release) return;
      check(reader::releases++ == 0, "a number is given back once");
      check(entry_.leave() == poll_entry::left::nothing, "the handle is there");
    }
  }

  void after() override {
    check(reader_.ended, "the wait has ended");
    check(reader::releases == 1, "the number is given back");
  }

 private:
  void event() {
    claimed_polls woken;
    data_.store(1, std::memory_order_relaxed);
    entry_.happened(life_, true, false, woken);
    woken.wake_all();
  }

  poll_entry entry_;
  timer_heap timers_;
  machine::atomic<int> data_{0};
  claimed_polls none_;
  poll_entry::life life_ = 0;
  reader reader_{entry_, data_, &timers_};
};

}  // namespace

const named_scenario scenarios[] = {
    {"sleep_in_poller", 400'000, &make<sleep_in_poller>},
    {"two_readers", 400'000, &make<two_readers>},
    {"race_of_ends", 400'000, &make<race_of_ends>},
    {},
};

}  // namespace model
