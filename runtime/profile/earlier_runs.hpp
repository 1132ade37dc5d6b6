// What a run learns of earlier ones of the same program: `./dev profile` runs a program several times, and passes a file from run to run,
// by FORKJOIN_PROFILE_RUNS.
//
// The graph of forks is the same each time, so the n-th strand that is timed in one run is the n-th in another. Each counts as the shortest
// of its runs: what interrupted it once did not do so each time. That holds for a program that does the same each time; the lengths carry
// the numbers of their types, and a run that comes upon another type says so, and uses lengths of its own from there on.
#pragma once

#include <cstdint>

namespace fj { inline namespace v0_2 { namespace detail { namespace profile {

/// How the strands of a kind are timed: strands.hpp.
enum class way : std::uint8_t { learning, each, some };

bool has_earlier_runs() noexcept;
/// The number of this run, from 0 on.
unsigned number_of_run() noexcept;
/// Whether this run does what earlier ones did, so far.
bool repeats_earlier_runs() noexcept;

// By numbers that follow the order in which things come up first. 0 if no earlier run knows it.
way known_way(std::uint32_t kind) noexcept;
double known_length(std::uint32_t type) noexcept;
bool is_known_to_run_on(std::uint32_t type) noexcept;
std::uint64_t known_part(std::uint32_t site) noexcept;
/// The site that this one is in the same line as: the first of them.
std::uint32_t known_first_of_line(std::uint32_t site) noexcept;

/// The least length of the strand that has just been timed, of all runs.
double least_of_runs(std::uint32_t type, double length) noexcept;

/// Between these two numbers of strands that have ended, so much time passed that no strand accounts for. The least that earlier runs found
/// there; 0 if they found nothing.
double least_surprise(std::uint64_t from, std::uint64_t to, double ticks) noexcept;

void load_earlier_runs() noexcept;
/// For later runs; parts and lines are given by site.
void save_runs(const std::uint64_t* parts, const std::uint32_t* lines, std::uint32_t sites) noexcept;

}}}}  // namespace fj::v0_2::detail::profile
