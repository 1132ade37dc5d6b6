// The library's requirements on compilers and standard libraries: if one is not met, a single #error line names it. And what it
// hides from compilers.
#pragma once

#include <version>

#if !defined(__cpp_exceptions)
#error "forkjoin needs exceptions: compile without -fno-exceptions"
#endif

#if !defined(__cpp_lib_jthread)
#error "forkjoin needs std::stop_token: with libc++ before version 20, compile with -fexperimental-library"
#endif

namespace fj::inline v0_1::detail::os {

/// The same number, of which the compiler no longer knows how it was computed.
template <class Integer>
[[gnu::always_inline]] inline Integer opaque(Integer i) noexcept {
  asm("" : "+r"(i));
  return i;
}

}  // namespace fj::inline v0_1::detail::os
