// The counters of a runtime. The fast path of a fork changes none of them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "forkjoin/abi/stats.hpp"
#include "runtime/base/time_alone.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A counter that one thread at a time writes and any thread reads.
class tally {
 public:
  void operator++() noexcept { *this += 1; }
  void operator+=(std::uint64_t more) noexcept { value_.store(read() + more, std::memory_order_relaxed); }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// The maximum of something; written and read likewise.
class peak {
 public:
  void raise_to(std::uint64_t value) noexcept {
    if (value > read()) value_.store(value, std::memory_order_relaxed);
  }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// How late joins were.
class lateness {
 public:
  void note(std::int64_t late) noexcept {
    const auto time = static_cast<std::uint64_t>((std::max)(late, std::int64_t{0}));
    sum_ += time;
    most_.raise_to(time);
    std::size_t bucket = 0;
    for (std::uint64_t limit = 1'000; bucket + 1 != joins_.size() && time >= limit; limit *= 10) ++bucket;
    ++joins_[bucket];
  }

  void read(counters& into) const noexcept {
    into.late_ns = sum_.read();
    into.most_late_ns = most_.read();
    for (std::size_t i = 0; i != joins_.size(); ++i) into.joins_late[i] = joins_[i].read();
  }

 private:
  tally sum_;
  peak most_;
  std::array<tally, std::tuple_size_v<decltype(counters::joins_late)>> joins_;
};

/// How many stacks a P has taken. Its worker takes them; other workers may give them back.
class stack_tally {
 public:
  void take() noexcept { most_.raise_to(in_use_.fetch_add(1, std::memory_order_relaxed) + 1); }
  void give_back() noexcept { in_use_.fetch_sub(1, std::memory_order_relaxed); }

  std::uint64_t in_use() const noexcept { return in_use_.load(std::memory_order_relaxed); }
  std::uint64_t most() const noexcept { return most_.read(); }

 private:
  std::atomic<std::uint64_t> in_use_{0};
  peak most_;
};

/// Time spent on something; written likewise. It is one word, so that a reading is of one moment: the time so far and,
/// while the watch runs, minus the moment of its start. That is negative, because the time so far is less than the
/// clock's.
class stopwatch {
 public:
  bool runs() const noexcept { return time_.load(std::memory_order_relaxed) < 0; }

  void start(std::int64_t now) noexcept { add(-now); }
  void stop(std::int64_t now) noexcept { add(now); }

  /// The time up to a moment within the call, never less than an earlier result. `clock()` is now in nanoseconds.
  template <class Clock>
  std::uint64_t read(Clock clock) const noexcept {
    std::int64_t found = 0, time = 0;
    do {
      found = time_.load(std::memory_order_acquire);  // acquire: before the clock is read
      time = found < 0 ? found + clock() : found;
      // Else the watch was stopped meanwhile. relaxed: at worst the result is a moment old.
    } while (time_.load(std::memory_order_relaxed) != found);
    // The worker reads the clock before it stores that it stops. A reader in between counts a little too much, and the
    // next reader must not get less.
    std::int64_t told = told_.load(std::memory_order_relaxed);
    while (told < time && !told_.compare_exchange_weak(told, time, std::memory_order_relaxed)) {}
    return static_cast<std::uint64_t>(told < time ? time : told);
  }

 private:
  void add(std::int64_t more) noexcept {
    time_.store(time_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  std::atomic<std::int64_t> time_{0};
  mutable std::atomic<std::int64_t> told_{0};  ///< the largest result of read
};

/// The counters of one P, written by the worker that holds it.
struct tallies {
  tally steals, suspensions, resumptions, join_waits, exposures, publications, slow_pushes, slow_pops, parks, wakeups,
      blocking_calls, retakes, preemptions, on_top_ns, stolen_ns, ready_ns, urgent_turns;
  peak most_public, longest_stolen_ns, most_ready_ns, most_urgent_ready_ns;
  lateness late;
  stack_tally stacks;
  stopwatch busy, looking;  // at most one of them runs, and none while the P is idle

  time_alone* alone = nullptr;  // of all P of the runtime; nullptr: nobody asks for it
  unsigned number = 0;          // of the P

  void note_stolen(std::int64_t time) noexcept {
    stolen_ns += static_cast<std::uint64_t>(time);
    longest_stolen_ns.raise_to(static_cast<std::uint64_t>(time));
  }
  /// A fiber has waited so long for the P; it stands for so many.
  void note_ready(std::int64_t time, unsigned fibers, bool urgent) noexcept {
    if (urgent) most_urgent_ready_ns.raise_to(static_cast<std::uint64_t>(time));
    ready_ns += static_cast<std::uint64_t>(time) * fibers;
    most_ready_ns.raise_to(static_cast<std::uint64_t>(time));
  }
  void begin_busy(std::int64_t now) noexcept {
    if (looking.runs()) looking.stop(now);
    if (busy.runs()) return;
    busy.start(now);
    if (alone) alone->begin(number, now);
  }
  void begin_looking(std::int64_t now) noexcept {
    end_busy(now);
    if (!looking.runs()) looking.start(now);
  }
  void begin_idle(std::int64_t now) noexcept {
    end_busy(now);
    if (looking.runs()) looking.stop(now);
  }
  void end_busy(std::int64_t now) noexcept {
    if (!busy.runs()) return;
    busy.stop(now);
    if (alone) alone->end(number, now);
  }

  template <class Clock>
  counters read(Clock clock) const noexcept {
    counters all{steals.read(),         suspensions.read(), resumptions.read(), join_waits.read(), exposures.read(),
                 publications.read(),   most_public.read(), slow_pushes.read(), slow_pops.read(),  parks.read(),
                 wakeups.read(),        stacks.in_use(),    stacks.most(),      busy.read(clock),  looking.read(clock),
                 blocking_calls.read(), retakes.read(),     preemptions.read()};
    late.read(all);
    all.on_top_ns = on_top_ns.read();
    all.stolen_ns = stolen_ns.read();
    all.longest_stolen_ns = longest_stolen_ns.read();
    all.ready_ns = ready_ns.read();
    all.most_ready_ns = most_ready_ns.read();
    all.urgent_turns = urgent_turns.read();
    all.most_urgent_ready_ns = most_urgent_ready_ns.read();
    return all;
  }
};

}}}  // namespace fj::v0_4::detail
