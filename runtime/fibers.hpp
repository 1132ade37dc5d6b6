// Prints what the fibers of a runtime do.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "forkjoin/abi/fiber_reports.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class scheduler;
struct fiber;

/// Which fibers of a runtime wait: for each the version of its place.
using seen_waits = std::map<const fiber*, std::uint32_t>;
/// Throws std::bad_alloc.
seen_waits see_waits(const scheduler& s);

/// A line for each P and for each place where fibers wait, with the numbers of the first of them. From any thread,
/// while the runtime works: each line was true at some time during the call. Throws std::bad_alloc.
/// `before`: what was seen at an earlier time; the text says which fibers have waited since then.
std::string describe_fibers(scheduler& s, const seen_waits* before = nullptr);

/// Adds those of this runtime. From any thread, while the runtime works: each fiber is counted as it was at some time
/// during the call.
void add_fibers(fiber_counts& to, const scheduler& s) noexcept;

/// A line for each thread outside of any runtime that has waited in the library for long. Throws std::bad_alloc.
std::string describe_sleepers_outside();

}}}  // namespace fj::v0_4::detail
