// For how long one P alone was busy: what a runtime's other P lose then no theft can give back.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "runtime/base/tuning.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Counts the busy P of a runtime. Each P says when it begins and ends to be busy; that never waits for another thread,
/// so P that steal often do not hold each other up.
class time_alone {
 public:
  /// Parts of loops that a P has begun, by the strand that it runs.
  struct loop_parts {
    const void* whose = nullptr;
    std::uint32_t begun = 0;
  };
  /// Of P number `proc` of `all`; of any thread.
  using parts_of = loop_parts (*)(const void* all, unsigned proc) noexcept;

  struct times {
    /// Nanoseconds in which exactly one P was busy.
    std::uint64_t alone = 0;
    /// Of these, in parts of loops that were too short to be shared; at most, as no part is timed.
    std::uint64_t short_loops = 0;
    /// Nanoseconds in which at least one P was busy.
    std::uint64_t any = 0;
  };

  /// Before any P is busy.
  void watch(const void* all, parts_of parts) noexcept {
    all_ = all;
    parts_ = parts;
  }

  void begin(unsigned proc, std::int64_t now) noexcept { change(one + proc, now); }
  void end(unsigned proc, std::int64_t now) noexcept { change(-(one + proc), now); }

  times read(std::int64_t now) noexcept {
    settle(now);
    return {.alone = alone_.load(std::memory_order_relaxed),
            .short_loops = short_loops_.load(std::memory_order_relaxed),
            .any = any_.load(std::memory_order_relaxed)};
  }

 private:
  // The number of busy P, and below it the sum of their own numbers: of a P that is alone, its number.
  static constexpr std::uint64_t one = std::uint64_t{1} << 32;

  void change(std::uint64_t by, std::int64_t now) noexcept {
    // seq_cst: before the look at held_, as in settle
    const std::uint64_t before = busy_.fetch_add(by, std::memory_order_seq_cst);
    if (matters(before, before + by)) settle(now);
  }

  // One thread at a time. Another leaves its change to that one, which looks again after it has said that it is done:
  // of the two, one sees what the other stored, as all four accesses are seq_cst.
  void settle(std::int64_t now) noexcept {
    do {
      if (held_.exchange(true, std::memory_order_seq_cst)) return;
      add(now);
      held_.store(false, std::memory_order_seq_cst);
    } while (matters(settled_.load(std::memory_order_relaxed), busy_.load(std::memory_order_seq_cst)));
  }

  // Between two and more no time begins or ends.
  static bool matters(std::uint64_t before, std::uint64_t after) noexcept {
    return before != after && (std::min)(before, after) < 2 * one;
  }

  // Adds the time since the last call to what it was spent on. The clock of a thread that was held up may be behind.
  void add(std::int64_t now) noexcept {
    const std::uint64_t was = settled_.load(std::memory_order_relaxed), is = busy_.load(std::memory_order_seq_cst);
    const auto passed = static_cast<std::uint64_t>((std::max)(now - since_, std::int64_t{0}));
    if (was >= one) grow(any_, passed);
    if (was / one == 1) {
      const loop_parts parts = parts_of_alone(was);
      grow(alone_, passed);
      if (parts.whose == before_.whose)
        grow(short_loops_, (std::min)(passed, (parts.begun - before_.begun) * tuning::short_part_ns));
    }
    if (is / one == 1) before_ = parts_of_alone(is);
    since_ = (std::max)(since_, now);
    settled_.store(is, std::memory_order_relaxed);
  }

  loop_parts parts_of_alone(std::uint64_t busy) const noexcept {
    return parts_ ? parts_(all_, static_cast<unsigned>(busy % one)) : loop_parts{};
  }

  static void grow(std::atomic<std::uint64_t>& time, std::uint64_t by) noexcept {
    time.store(time.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  const void* all_ = nullptr;
  parts_of parts_ = nullptr;
  std::atomic<std::uint64_t> busy_{0};
  std::atomic<bool> held_{false};

  // Written by the thread that holds it.
  std::int64_t since_ = 0;
  loop_parts before_;
  std::atomic<std::uint64_t> settled_{0};  // what busy_ was then
  std::atomic<std::uint64_t> alone_{0}, short_loops_{0}, any_{0};
};

}}}  // namespace fj::v0_4::detail
