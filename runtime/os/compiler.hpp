// The library's requirements on compilers and standard libraries: if one is not met, a single #error line names it. And what it
// hides from compilers.
#pragma once

#include <type_traits>
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

/// Whether the compiler may compute a product that a function returned and a later sum in one instruction, which rounds once:
/// g++ does so by default (-ffp-contract=fast) where the processor has that instruction, and only where it inlines the function.
/// clang's default does not.
template <class X>
inline constexpr bool may_be_fused =
#if defined(__FP_FAST_FMA) && !defined(__clang__)
    !std::is_reference_v<X> && std::is_trivially_copyable_v<X> && (std::is_floating_point_v<X> || std::is_class_v<X>);
#else
    false;
#endif

/// Ends what may be fused: afterwards all of it has been rounded, as if it had been stored.
template <class X>
[[gnu::always_inline]] inline void round(X& x) noexcept {
  asm("" : "+m"(x));
}

/// What f() returns, rounded.
template <class F>
[[gnu::always_inline]] inline decltype(auto) rounded(F&& f) {
  if constexpr (may_be_fused<decltype(f())>) {
    auto x = f();
    os::round(x);
    return x;
  } else {
    return f();
  }
}

}  // namespace fj::inline v0_1::detail::os
