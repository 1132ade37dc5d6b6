// Fibers that wait for what nothing can bring any more, because nothing that can still run reaches what they wait for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "forkjoin/abi/fiber_reports.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct instance;

/// As fj::lost_fibers.
lost_report find_lost_fibers();

/// From now on a thread of its own looks after each rest of that time, while the process has no more memory than that,
/// and prints which fibers are lost: FORKJOIN_LOST=1. Further calls do nothing.
void watch_lost_fibers(std::size_t most_bytes, std::int64_t rest_ns) noexcept;
/// While threads of the process take turns (os/turns.hpp), nothing looks: that thread takes none, and one that waited
/// for it would wait for ever. By a thread that takes none yet, or any more.
void pause_watch(bool pauses) noexcept;
/// How many threads that has started in this process: 0 or 1. They end no wait.
unsigned threads_that_watch() noexcept;
/// At the end of a runtime, or of the process: if that was called, prints those that are lost and were not printed
/// before.
void report_lost_fibers() noexcept;

}}}  // namespace fj::v0_4::detail
