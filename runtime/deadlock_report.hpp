// A program that stands still: each of its threads sleeps in the library, and nothing can end any of these sleeps.
#pragma once

#include "runtime/os/futex.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// What a thread does that has slept for long: if the program stands still, it says where each fiber and thread waits,
/// and aborts. If only a thread that the runtime does not know could end that, it says so, once in a process.
void look_for_standstill(os::looks& by) noexcept;

}}}  // namespace fj::v0_4::detail
