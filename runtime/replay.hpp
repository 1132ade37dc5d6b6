// Schedules that repeat: the threads of a runtime take turns (os/turns.hpp), and a seed, or a list, says which of them
// goes on.
//
// What a schedule depends on is in the process: the seed, the program, the clock of the turns, dice that are begun by
// numbers. So the same seed gives the same schedule anywhere. Two ways to choose, by the seed:
//   odd: at random; some seeds rather go on with the thread that has the turn. The runtime is also chaotic
//   (base/chaos.hpp), so that strands
//     which share a P change, too.
//   even: by priorities. Each strand has one at random, and the first of those that can go on does; at up to three
//   points, at random, the
//     strand that has the turn becomes the last. Source: Burckhardt and others, "A randomized scheduler with
//     probabilistic guarantees of finding bugs" (PCT, ASPLOS 2010): a bug that needs d orders is found with probability
//     1 / (n k^(d-1)) of n strands and k points.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "forkjoin/abi/options.hpp"
#include "runtime/base/random.hpp"
#include "runtime/os/turns.hpp"
#include "runtime/sched/worker.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// What a schedule has done so far. The explorer has it in memory that other processes share.
struct schedule_log {
  /// A choice that is not the usual one.
  struct change {
    std::uint64_t choice : 48;  ///< from 1
    std::uint64_t thread : 16;  ///< in the order in which they began, from 0
    bool operator==(const change&) const = default;
  };
  static constexpr std::size_t room = std::size_t{1} << 20;

  std::atomic<std::uint64_t> choices{0};
  std::atomic<std::uint64_t> hash{0};     ///< of all choices: which thread with which strand went on, and why
  std::atomic<std::uint64_t> changes{0};  ///< more than there is room for are counted alone
};

/// A log that keeps the changes.
struct full_schedule_log : schedule_log {
  change list[room];
  std::uint64_t most_choices;  ///< then the process ends
};

/// The text of changes, as in fj::replay.
std::string text_of(const std::vector<schedule_log::change>& changes);

/// Chooses who goes on.
class schedule_chooser {
 public:
  /// Throws std::invalid_argument if the list makes no sense.
  schedule_chooser(const replay& wanted, schedule_log& log, full_schedule_log* kept);

  static os::turns::taker& next(void* self, os::turns::taker& first, os::turns::cause why) noexcept {
    return static_cast<schedule_chooser*>(self)->choose(first, why);
  }

  /// How many of the schedule's changes were not made: at their choice the thread could not go on, or there was no such
  /// choice.
  std::size_t changes_not_made() const noexcept { return not_made_ + list_.size() - next_in_list_; }

  /// Throws std::invalid_argument for the text of a schedule that makes no sense.
  [[noreturn]] static void refuse(const char* text);

  /// Whether the seed is one whose strands that share a P change at random.
  static bool is_chaotic(std::uint64_t seed) noexcept { return seed % 2 == 1; }

 private:
  using taker = os::turns::taker;
  using cause = os::turns::cause;

  // What a thread was when it gave its turn up.
  struct thread_state {
    worker* as = nullptr;      // nullptr: outside of a runtime, or it has just begun
    std::uint64_t strand = 0;  // 0: none, the worker looks for work
  };

  taker& choose(taker& first, cause why) noexcept;
  taker& usual(taker& first, cause why) noexcept;
  taker& at_random(taker& first, cause why) noexcept;
  taker& by_priority(taker& first, cause why) noexcept;
  taker* listed(taker& first) noexcept;
  taker& one_of(taker& first, const taker* but) noexcept;
  bool has_something_to_do(const taker& t) const noexcept;
  std::int64_t priority(const taker& t) const noexcept;
  void note_holder() noexcept;
  void keep(const taker& chosen, cause why, bool is_usual) noexcept;

  const std::uint64_t seed_;
  const bool has_list_;
  std::vector<schedule_log::change> list_;
  std::size_t next_in_list_ = 0, not_made_ = 0;
  random dice_;
  std::uint32_t stays_in_8_ = 0;                            // how often the holder goes on where it could
  std::uint32_t falls_ = 0;                                 // how often a strand is still to become the last
  std::uint32_t points_a_fall_ = 0;                         // on average
  std::unordered_map<std::uint64_t, std::int64_t> fallen_;  // strands, and their priorities since
  std::int64_t lowest_ = 0;
  unsigned points_in_row_ = 0;  // of the holder
  taker* holder_ = nullptr;
  std::vector<thread_state> threads_;
  schedule_log& log_;
  full_schedule_log* const kept_;
};

/// While it lives, the calling thread and those of its runtimes take turns, if a schedule is wanted. Several of one
/// thread share them.
class schedule_session {
 public:
  /// Throws std::invalid_argument as schedule_chooser, std::logic_error if another thread has one.
  explicit schedule_session(const replay& wanted, full_schedule_log* kept = nullptr);
  ~schedule_session();
  schedule_session(const schedule_session&) = delete;
  schedule_session& operator=(const schedule_session&) = delete;

  /// What has been chosen so far; nullptr if there is no schedule.
  static const schedule_log* log() noexcept;

 private:
  const bool counts_;
};

}}}  // namespace fj::v0_4::detail
