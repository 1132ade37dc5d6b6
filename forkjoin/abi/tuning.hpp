// The constants that tune loops without a grain (forkjoin/loops/split_loop.hpp), each with its unit, its reason, and a
// pointer to its measurement. Programs are compiled with them; those of the library alone are in
// runtime/base/tuning.hpp.
#pragma once

#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail { namespace tuning {

/// Nanoseconds that a chunk of a shared loop is to take: not less than the first, as a fork and a look at the clock
/// cost some tens; not more than the second, as an owner answers a thief between chunks. The profile divides loops
/// likewise (runtime/profile/blocks.cpp).
inline constexpr std::int64_t shortest_chunk_ns = 8'000;
inline constexpr std::int64_t longest_chunk_ns = 40'000;

/// When a strand shares a loop that it began alone, in nanoseconds.
struct sharing {
  /// If the loop has so much left by the time of the elements so far; or has taken so long, as elements differ.
  std::uint64_t worth_ns;
  /// The time of the elements so far says something about the others after so long. First elements miss caches.
  std::uint64_t known_after_ns;
  /// How long a part is to take until then: a multiple of what a fork and a look at the clock cost, and little beside
  /// worth_ns.
  std::uint64_t part_ns;
};

/// Of a type of body whose loops are faster shared, and of one whose loops are not (forkjoin/loops/chunks.hpp). Early:
/// several times what it costs both sides to share a loop. Late: right after a shared loop, one that is faster alone
/// may seem to need several times as long as it takes. A loop so long is shared whatever that does to the loops around
/// it. Measured: runtime/DECISIONS.md.
inline constexpr sharing early = {.worth_ns = 6'000, .known_after_ns = 250, .part_ns = 2'000};
inline constexpr sharing late = {.worth_ns = 256'000, .known_after_ns = 4'000, .part_ns = 8'000};

/// Nanoseconds of a part of a loop that its strand ran alone, at most, in statistics: parts are counted there, not
/// timed.
inline constexpr std::uint64_t short_part_ns = late.part_ns;

/// Of the trial of both ways: windows of each way, in turn; loops of a window, and how many of these do not count, the
/// first ones; and after how many loops the next trial begins, so that a trial takes a thirtieth of the loops, and
/// after how many where late has won for the first time.
inline constexpr std::uint32_t windows_of_way = 2, loops_of_window = 8, loops_to_settle = 2, loops_kept = 2'048;
inline constexpr std::uint32_t loops_late_at_first = 256;

/// Loops of a window after the trial: so many that a moment without a CPU, of a few hundred microseconds, does not
/// decide.
inline constexpr std::uint32_t loops_watched = 32;

/// After so many loops the trial is no longer in doubt: a window that is slow then was disturbed, or the loops have
/// changed.
inline constexpr std::uint32_t loops_in_doubt = 4 * loops_watched;

/// The part of the time of the other way that sharing early may take at most to be kept.
inline constexpr float least_gain = 0.95f;

/// Nanoseconds of a brief loop at most. The next loop of as many elements reads no clock (forkjoin/loops/chunks.hpp).
inline constexpr std::uint64_t brief_ns = 2'000;

/// Nanoseconds of what a part takes beside its elements, less rather than more: a look at the CPU's counter, a
/// push and a pop. Without that a first element would seem to take several times as long as it does.
inline constexpr std::uint64_t part_cost_ns = 16;

/// Nanoseconds of a loop that runs without a fork, as the look at the clock sees it: ten times what the fork costs
/// clang's code, and a fifth of a brief loop. Measured: runtime/DECISIONS.md.
inline constexpr std::uint64_t very_brief_ns = 400;

/// Of so many brief loops that run with a fork, one is timed, to see whether it needs one: a look takes as long as a
/// few forks.
inline constexpr std::uint32_t loops_per_look = 64;

/// As many forks cost what it takes to wake a worker, less rather than more: 5 us.
inline constexpr std::uint32_t forks_per_waking = 5'000 / part_cost_ns;

}}}}  // namespace fj::v0_4::detail::tuning
