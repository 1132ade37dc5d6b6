// How long strands take. Two readings of the CPU's counter take as long as a hundred instructions, so strands are told
// apart by kind: where one begins, and where it ends. Strands of a kind that are all short, or all alike, have the
// length that some of them had, which are chosen at random; each of all others is timed.
//
//   learning   each is timed, until a few dozen are known; then the kind is one of the following
//   each       each is timed
//   some       each counts as its type's length; one in some hundred is timed, for the sake of that length
//
// In a first run of a program (earlier_runs.hpp) kinds are learned. In later runs each kind is what it was at the end
// of that run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/profile/earlier_runs.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

struct site;

/// Strands that begin and end at the same places.
struct strand_type {
  double length = 0;        // ticks: of one that is not timed
  std::uint64_t count = 0;  // of those
  const void* end = nullptr;
  lasting_key key = 0;
  lengths_are are = lengths_are::unknown;
  // Of a kind of which each is timed: these are all short or alike, so that most end without a reading.
  bool runs_on = false;
  std::uint32_t unread = 0;  // how many more do
  std::uint64_t timed = 0;   // how many were
  double total = 0;          // ticks of all that were, and of the others up to `added`
  std::uint64_t added = 0;
  std::uint64_t at_window = 0;  // `count` when the window began
  double measured = 0;          // the length that those have which were timed
  double sampled = 0;           // ticks of strands that were chosen at random, and not interrupted
  std::uint64_t samples = 0;
  double known = 0;                // the length by earlier runs; 0: none
  std::array<float, 64> newest{};  // of those that were timed

  /// One was timed.
  void note(double ticks) noexcept { newest[timed++ % newest.size()] = static_cast<float>(ticks); }
};

/// Strands that begin at the same place.
struct strand_kind {
  struct known_end {
    const void* end = nullptr;
    strand_type* type = nullptr;
  };

  std::uint32_t left = 1;  // until one is timed
  way timed = way::learning;
  std::uint32_t look_at = 64;  // when so many have been timed, the way is chosen again
  std::uint32_t were_timed = 0;
  std::uint32_t gap = 192;               // if some are timed: how many are not, between two that are
  strand_type* end_of_branch = nullptr;  // of those that end with their branch
  known_end recent;                      // another that came up
  std::vector<strand_type*> types;
  lasting_key key = 0;
  site* owner = nullptr;  // in whose branches these strands are
  bool begins_branch = false;
};

/// What readings and the profile's own work take, in ticks. Measured at the start.
struct costs {
  double event = 0;   // of what is done between two strands of which none is timed
  double fresh = 0;   // of a reading where a strand begins, to that where it ends
  double shared = 0;  // the same where the end of one strand is the begin of the next
};

inline costs cost;
inline double ticks_per_ns = 1;

/// Where a strand of a kind begins: its branch, or after something in it.
enum class begin_at { branch, place };

/// Gives it an owner, a key, and what earlier runs know of it.
void add_kind(strand_kind& one, site& owner, lasting_key key, begin_at where);

/// Adds the ticks of all strands to their owners' sums.
void add_up_strands() noexcept;

/// Before the first strand that counts.
void start_strands();
/// A call of run begins: what was before it is no part of the profile.
void strands_go_on() noexcept;
/// What later runs are to know of kinds and types, and how many strands have ended.
void know_strands(knowledge& to);

enum class clock_state : std::uint32_t { idle, strand_is_timed, just_read };

inline strand_kind no_kind;

/// The strand that runs.
struct running_strand {
  strand_kind* kind = &no_kind;
  clock_state clock = clock_state::idle;
  std::uint64_t began = 0;  // if it is timed; or when the one before it ended, if just_read
  double own_cost = 0;      // of its reading
  double surprise = 0;      // ticks that strands before it took, but that nothing told of
};
inline running_strand strand;

inline const char end_of_branch = 0;  // stands for it

strand_type& find_type(strand_kind& kind, const void* end) noexcept;
double end_timed(const void* end) noexcept;
void begin_timed(strand_kind& kind) noexcept;

/// So many ticks that have just passed are no strand's.
void leave_out(std::uint64_t ticks) noexcept;

/// Anything but the fast path has run since the clock was read.
inline void clock_is_stale() noexcept {
  if (strand.clock == clock_state::just_read) strand.clock = clock_state::idle;
}

/// The strand ends at a place: the address of something that stands for it. Returns the ticks that it took.
[[nodiscard, gnu::always_inline]] inline double end_strand(const void* end) noexcept {
  if (strand.clock != clock_state::idle) [[unlikely]]
    return end_timed(end);
  strand_kind& kind = *strand.kind;
  strand_type* const type = kind.recent.end == end ? kind.recent.type : &find_type(kind, end);
  ++type->count;
  return type->length;
}

/// The strand ends where its branch ends.
[[nodiscard, gnu::always_inline]] inline double end_strand_of_branch() noexcept {
  if (strand.clock != clock_state::idle) [[unlikely]]
    return end_timed(&end_of_branch);
  strand_kind& kind = *strand.kind;
  strand_type* const type = kind.end_of_branch ? kind.end_of_branch : &find_type(kind, &end_of_branch);
  ++type->count;
  return type->length;
}

[[gnu::always_inline]] inline void begin_strand(strand_kind& kind) noexcept {
  strand.kind = &kind;
  if (--kind.left == 0) begin_timed(kind);
}

}}}}  // namespace fj::v0_4::detail::profile
