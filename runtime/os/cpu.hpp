// How a spinning thread waits.
#pragma once

#include "turns.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

/// Tells the processor that this is a spin loop (PAUSE, YIELD): frees the sibling hyperthread, saves power.
inline void pause() noexcept {
  if constexpr (turns::exist)
    if (turns* const all = turns::mine()) [[unlikely]]
      return all->pass();
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// Gives the rest of this thread's time slice to others.
void yield_thread() noexcept;

}}}}  // namespace fj::v0_2::detail::os
