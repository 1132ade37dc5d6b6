// Whether calls into the runtime have to check for chaos and for requests to give way.
#pragma once

#include <atomic>

namespace fj { inline namespace v0_2 { namespace detail {

/// How many runtimes of the process are chaotic, or have asked a strand to give way. One predictable branch on it stands before
/// each operation on a channel, a lock or a future: to find the strand's own runtime first would read a variable of the thread.
extern std::atomic<unsigned> yield_requests;

}}}  // namespace fj::v0_2::detail
