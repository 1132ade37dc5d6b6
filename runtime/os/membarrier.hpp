// The heavy half of an asymmetric fence.
#pragma once

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Registers this process for membarrier(2), PRIVATE_EXPEDITED. Once is enough; further calls do no harm. False if the
/// kernel or a seccomp filter forbids it.
bool membarrier_register() noexcept;

/// Makes every running thread of this process pass a full memory barrier before the call returns. The other half is
/// only a compiler fence. What another thread stored before its barrier is visible after this call; what it loads after
/// its barrier sees what was stored before this call. Only after a successful registration.
void membarrier() noexcept;

}}}}  // namespace fj::v0_4::detail::os
