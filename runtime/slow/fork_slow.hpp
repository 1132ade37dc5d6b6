// The slow paths of a fork: what its owner does when a thief asks for records, or has taken the fork's record.
#pragma once

#include "../fork/continuation.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// To be called when push_record returned true. False: this thread is outside of any runtime, and nothing was pushed.
[[gnu::cold]] bool push_slow() noexcept;

/// To be called when pop_record returned false. False: stolen.
[[gnu::cold]] bool pop_slow(const record& r) noexcept;
[[gnu::cold]] bool pop_slow(const record_stand_in& r) noexcept;

/// Waits until the stolen record is finished. Meanwhile the worker does something else.
[[gnu::cold]] void join_slow(join& stolen) noexcept;

}}}  // namespace fj::v0_2::detail
