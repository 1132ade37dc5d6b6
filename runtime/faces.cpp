// What programs see of the library's objects (forkjoin/abi/) lies at their begin. Offsets in classes that have bases
// are no matter of the language, but of the ABI (Itanium C++ ABI, section 2.4), which all of our compilers follow.

#include <cstddef>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/scope.hpp"
#include "runtime/fork/deque.hpp"
#include "runtime/os/memory/memory_checker.hpp"
#include "runtime/sched/worker.hpp"
#include "runtime/stacks/fiber.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

struct face_layout {
  static_assert(offsetof(deque, newest_) == 0 && offsetof(deque, progress_) == cache_line);
  static_assert(offsetof(fiber, below) == offsetof(fiber_face, below));
  static_assert(offsetof(worker, exceptions) == offsetof(worker_face, exceptions));
};

#pragma GCC diagnostic pop

std::byte* stack_bottom(const fiber& f) noexcept { return f.stack_bottom(); }

// In every build of the library: what is built with assertions may be linked with what is not.

void begin_child_in_debug(fiber& parent, fiber& below) noexcept {
  parent.becomes_at_fork(fiber_state::forked);
  below.becomes_at_fork(fiber_state::running);
}

void end_child_in_debug(fiber& parent, fiber& below) noexcept {
  below.becomes_at_fork(fiber_state::free);
  parent.becomes_at_fork(fiber_state::running);
}

void usable_in_debug(void* at, std::size_t size) noexcept { os::usable(at, size); }

}}}  // namespace fj::v0_4::detail
