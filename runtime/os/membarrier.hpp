// The heavy half of an asymmetric fence.
#pragma once

namespace fj::inline v0_1::detail::os {

/// Registers this process for membarrier(2), PRIVATE_EXPEDITED; once is enough, more does no harm. False where the
/// kernel or a seccomp filter forbids it.
bool membarrier_register() noexcept;

/// Has every running thread of this process pass a full memory barrier before it returns. The other half is a mere
/// compiler fence: what another thread stored before the barrier point is visible after this call, and what it loads
/// after that point sees what was stored before this call. Only after a successful registration.
void membarrier() noexcept;

}  // namespace fj::inline v0_1::detail::os
