#include "runtime/fork/current.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

constinit deque no_deque{0, true};

// used: assembly names them, which compilers do not see.
[[gnu::used]] constinit thread_local deque* current_deque_slot = &no_deque;
[[gnu::used]] constinit thread_local worker* current_worker_slot = nullptr;
[[gnu::used]] constinit thread_local fiber* current_fiber_slot = nullptr;

}}}  // namespace fj::v0_4::detail
