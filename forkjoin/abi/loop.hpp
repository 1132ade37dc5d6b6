// What loops ask of a deque: how far its owner has come, and whether others want what it has.
#pragma once

#include <cstddef>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/fork.hpp"
#include "forkjoin/abi/progress.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// The owner's progress lies in the cache line after what programs see of its deque: runtime/faces.cpp asserts it.
[[gnu::always_inline]] inline loop_progress& progress_of(deque& d) noexcept {
  return reinterpret_cast<loop_progress&>(reinterpret_cast<std::byte*>(&d)[cache_line]);
}

/// After a push that found a request: whether the owner need not attend, as a worker that looks for work finds the
/// record. If the owner makes no progress, that worker forces it.
bool is_watched(const record& newest) noexcept;

/// If the monitor asked the running strand for it, puts the strand at the end of the ready queue, with its records: no
/// other strand has them meanwhile. The strand may be on another worker afterwards. Nothing outside of any runtime, in
/// a forked copy, or while the system refuses memory.
void give_way_if_asked() noexcept;

}}}  // namespace fj::v0_4::detail
