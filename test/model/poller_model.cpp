// The poller: how a worker sleeps in it, and how strands that read meet events, a deadline, a stop and a close. The
// kernel is retold: its futex, its eventfd, and its edges.

#include <cerrno>
#include <cstdint>

#include "test/model/waits.hpp"

#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/sched/poll_entry.hpp"
#include "runtime/sched/sleep_word.hpp"
#include "runtime/wait/descriptors/operation.hpp"

namespace model {
namespace {

using fj::detail::claimed_polls;
using fj::detail::io_end;
using fj::detail::io_way;
using fj::detail::locked;

// Of the others than the sleeper, which is the first.
bool others_have_ended() { return system_state.ended[1] && system_state.ended[2]; }

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
  // The kernel's futex.
  std::int64_t now_ns() override { return 0; }
  void futex_wait(os::atomic<std::uint32_t>& word, std::uint32_t expected) override {
    {
      const locked lock(kernel_);
      if (word.load(std::memory_order_relaxed) != expected) return;
      on_futex_ = true;
    }
    wait_until([this] { return !on_futex_ || others_have_ended(); });
    check(!on_futex_, "a signal ends a sleep");
  }
  bool futex_wait_for_a_while(os::atomic<std::uint32_t>& word, std::uint32_t expected) override {
    futex_wait(word, expected);
    return true;
  }
  void futex_wake() override {
    const locked lock(kernel_);
    on_futex_ = false;
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
  fj::detail::sleep_word word_;
  eventfd poller_;
  claimed_polls woken_;
  os::mutex kernel_;
  bool on_futex_ = false;  // known outside of the model's memory
  os::atomic<int> told_[2];
};

using fj::detail::operation;
using fj::detail::poll_entry;

struct no_timekeeper {
  void begin_poll_wait() {}
  void end_poll_wait() {}
};

/// A descriptor, with so much data.
class pipe : public poll_entry {
 public:
  io_end read(const wait_limits& limits = {}) {
    const auto attempt = [this]() -> attempted {
      if (data.load(std::memory_order_relaxed) == 0) return {0, EAGAIN};
      data.fetch_sub(1, std::memory_order_relaxed);
      return {1, 0};
    };
    const auto wait = [&](std::uint32_t seen) {
      const io_end end = wait_deep_down(seen, limits);
      check(end.failed() || data.load(std::memory_order_relaxed) > 0, "what came before an edge is there");
      return end;
    };
    return operation::run(*this, io_way::reading, attempt, wait);
  }

  void drop() {
    dropped = true;
    drop_handle();
    finish();
  }

  void finish() {
    operation::finish(
        *this, [this] { check(releases++ == 0, "a number is given back once"); },
        [this] {
          check(dropped, "the handle is there");
          recycled = true;
        });
  }

  void close() {
    claimed_polls woken;
    if (!poll_entry::close(woken)) return;
    check(!poll_entry::close(none_), "a descriptor is closed once");
    woken.wake_all(fj::detail::precedence::soon);
    finish();
  }

  os::atomic<int> data{0};
  // Known outside of the model's memory.
  int releases = 0;
  bool dropped = false, recycled = false;

 private:
  struct attempted {
    std::size_t result;
    int error;
  };

  // So far down the stack that no call lies there later: a look at a wait that is gone finds that.
  [[gnu::noinline]] io_end wait_deep_down(std::uint32_t seen, const wait_limits& limits) {
    volatile char above[16 << 10];
    above[0] = 0;
    no_timekeeper counts;
    return operation::wait_for_edge(*this, io_way::reading, seen, limits, counts);
  }

  claimed_polls none_;
};

/// One edge tells of data for two readers.
class two_readers : public waits_scenario {
 public:
  two_readers() : waits_scenario(&strands_) { life_ = pipe_.open(); }

  void thread(unsigned index) override {
    if (index > 0) {
      got_ += static_cast<int>(pipe_.read().count);
      return;
    }
    claimed_polls woken;
    const bool late = any_of(4) == 0;  // an event of an earlier life comes first
    if (late) pipe_.happened(static_cast<poll_entry::life>(life_ - 1), true, true, woken);
    check(!woken.any(), "an event of an earlier life wakes none");
    pipe_.data.store(2, std::memory_order_relaxed);
    pipe_.happened(life_, true, true, woken);
    woken.wake_all(fj::detail::precedence::soon);
  }

  void after() override { check(got_ == 2, "each has read"); }

 private:
  scheduler strands_;
  pipe pipe_;
  poll_entry::life life_ = 0;
  int got_ = 0;  // known outside of the model's memory
};

/// An event, a deadline, a stop and a close would end one wait.
class race_of_ends : public waits_scenario {
 public:
  race_of_ends() : waits_scenario(&strands_) { life_ = pipe_.open(); }

  void thread(unsigned index) override {
    if (index == 0) {
      end_ = pipe_.read({.until = 10, .stop = &any_token});
      ended_ = true;
    }
    if (index == 1) {
      if (any_of(2)) event();
      strands_.timers.fire_due(10);
      if (any_of(2)) event();
    }
    if (index == 2) {
      if (any_of(2)) strands_.stops.request_stop();
      pipe_.close();
    }
  }

  void after() override {
    check(ended_, "the wait has ended");
    check(pipe_.releases == 1, "the number is given back");
    pipe_.drop();
    check(pipe_.recycled, "no operation is under way");
    check((end_.count == 1) + (end_.error == EBADF) + (end_.limit != wait_end::served) == 1,
          "one of them has ended it");
  }

 private:
  void event() {
    claimed_polls woken;
    pipe_.data.store(1, std::memory_order_relaxed);
    pipe_.happened(life_, true, false, woken);
    woken.wake_all(fj::detail::precedence::soon);
  }

  scheduler strands_;
  pipe pipe_;
  poll_entry::life life_ = 0;
  // Known outside of the model's memory.
  io_end end_;
  bool ended_ = false;
};

}  // namespace

const named_scenario scenarios[] = {
    {"sleep_in_poller", 400'000, &make<sleep_in_poller>},
    {"two_readers", 400'000, &make<two_readers>},
    {"race_of_ends", 400'000, &make<race_of_ends>},
    {},
};

}  // namespace model
