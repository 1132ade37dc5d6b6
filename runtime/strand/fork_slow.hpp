// The slow paths of a fork: what its owner does when a thief asks for records, or has taken the fork's record.
#pragma once

#include "../fork/continuation.hpp"
#include "../fork/deque.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// To be called when push_record returned true. False: this thread is outside of any runtime, and nothing was pushed.
[[gnu::cold]] bool push_slow() noexcept;

/// To be called when pop_record returned false. False: stolen.
[[gnu::cold]] bool pop_slow(const record& r) noexcept;
[[gnu::cold]] bool pop_slow(const record_stand_in& r) noexcept;

/// Waits until the stolen record is finished. Meanwhile the worker does something else.
[[gnu::cold]] void join_slow(join& stolen) noexcept;

/// The same for a strand in a runtime that has said already that it waits.
void finish_join(join& stolen) noexcept;

// The slow path of a quiet fork, which does not answer the alarm while a worker looks for work.

/// As deque::is_watched, also if no worker has said that it looks at this deque: whether one looks for work, and will find what was
/// pushed last, though its owner does not attend. If the owner makes no progress (deque::progress), that worker exposes it.
bool is_watched_slow(const record& newest) noexcept;

}}}  // namespace fj::v0_2::detail
