// What a run learns of earlier ones of the same program: `./dev profile` runs a program several times, and passes a
// file from run to run, by FORKJOIN_PROFILE_RUNS.
//
// The graph of forks is the same each time, so the n-th strand that is timed in one run is the n-th in another. Each
// counts as the shortest of its runs: what interrupted it once did not do so each time. That holds for a program that
// does the same each time; the lengths carry the keys of their types, and a run that comes upon another type says so,
// and uses lengths of its own from there on.
//
// The first run learns: how strands of a kind are timed, and how loops without a grain are cut. Later runs do the same
// as it did at its end, and the second one is the first whose strands count.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

/// How the strands of a kind are timed: strands.hpp.
enum class way : std::uint8_t { learning, each, some };

/// How far readings tell how long the strands of a type are. Tiny: only sums of many are right. Brief: all are too
/// short to time each one, and their mean counts. Alike: of about the same length.
enum class lengths_are : std::uint8_t { tiny, brief, alike, unknown };

/// Names a thing in each run of a program: made of places in its code.
using lasting_key = std::uint64_t;

/// Of a place in the program's own file, which lies elsewhere in each run.
lasting_key key_of(const void* place) noexcept;
lasting_key key_of(lasting_key a, lasting_key b) noexcept;

struct known_site {
  lasting_key key;
  std::uint64_t part;         // how many numbers a part of its loop has
  lasting_key first_of_line;  // the first site that came up in the same line
};

struct known_kind {
  lasting_key key;
  way timed;
};

struct known_type {
  lasting_key key = 0;
  double measured = 0;  // ticks: the mean of so many samples
  std::uint64_t samples = 0;
  lengths_are are = lengths_are::unknown;
  bool runs_on = false;
  std::uint32_t runs = 0;
  std::array<float, 16> lengths{};  // ticks, as the newest runs found them
};

/// Of strands that are alike the least of the runs, as what others do makes them longer; else the median.
double length_of(const known_type& type) noexcept;
void add_length(known_type& type, double ticks) noexcept;

struct knowledge {
  std::vector<known_site> sites;
  std::vector<known_kind> kinds;
  std::vector<known_type> types;
  std::uint64_t strands = 0;  // how many there were
};

bool has_earlier_runs() noexcept;
/// The number of this run, from 0 on.
unsigned number_of_run() noexcept;
/// Whether this run does what earlier ones did, so far.
bool repeats_earlier_runs() noexcept;

/// nullptr if no earlier run knows it.
const known_site* find_known_site(lasting_key key) noexcept;
const known_kind* find_known_kind(lasting_key key) noexcept;
const known_type* find_known_type(lasting_key key) noexcept;

/// The least length of the strand that has just been timed, of all runs that count.
double least_of_runs(lasting_key type, double length) noexcept;

/// Between these two numbers of strands that have ended, so much time passed that no strand accounts for. The least
/// that earlier runs found there; 0 if they found nothing.
double least_surprise(std::uint64_t from, std::uint64_t to, double ticks) noexcept;

void load_earlier_runs() noexcept;
/// For later runs.
void save_run(const knowledge& now) noexcept;

}}}}  // namespace fj::v0_4::detail::profile
