// What the library hides from compilers.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>

#include "forkjoin/abi/os/requirements.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// The same number or pointer, of which the compiler no longer knows how it was computed.
template <class T>
[[gnu::always_inline]] inline T opaque(T x) noexcept {
  asm("" : "+r"(x));
  return x;
}

/// Calls f() by a pointer that no compiler sees through. glibc declares __errno_location and pthread_self const, so a
/// compiler takes their results for constants of a function and of all that it inlines there, also across a wait that
/// changes the thread. What f asks for stays in f.
template <class F>
std::invoke_result_t<F> call_apart(F&& f) {
  using function = std::remove_reference_t<F>;
  return os::opaque(+[](function& g) -> std::invoke_result_t<F> { return std::invoke(static_cast<F&&>(g)); })(f);
}

/// Whether the compiler may compute a product that a function returned and a later sum in one instruction, which rounds
/// once: g++ does so by default (-ffp-contract=fast) where the CPU has that instruction, and only where it
/// inlines the function. clang's default does not.
template <class X>
inline constexpr bool may_be_fused =
#if defined(__FP_FAST_FMA) && !defined(__clang__)
    !std::is_reference_v<X> && std::is_trivially_copyable_v<X> && (std::is_floating_point_v<X> || std::is_class_v<X>);
#else
    false;
#endif

/// A floating-point number or a vector of them in a register: the compiler no longer knows how it was computed.
template <class Number>
[[gnu::always_inline]] inline void round_in_register(Number& x) noexcept {
#if defined(__AVX__)
  asm("" : "+x"(x));
#elif defined(__aarch64__)
  asm("" : "+w"(x));
#else
  asm("" : "+m"(x));
#endif
}

/// Ends what may be fused: afterwards all of x has been rounded.
template <class X>
[[gnu::always_inline]] inline void round(X& x) noexcept {
  if constexpr (std::is_floating_point_v<X> && sizeof(X) <= 8) {
    os::round_in_register(x);
  } else {
    asm("" : "+m"(x));
  }
}

/// The same for an array. In whole vectors: g++ keeps them in registers between two loops that it has vectorized. An
/// inner product of 1,000 numbers takes 1.25 of the time that it takes fused (g++ 12, -O3 -march=x86-64-v3); by way of
/// memory it took 2.3.
template <class T, std::size_t N>
[[gnu::always_inline]] inline void round(T (&x)[N]) noexcept {
#if defined(__AVX__)
  constexpr std::size_t size = 32;
#else
  constexpr std::size_t size = 16;
#endif
  if constexpr (std::is_floating_point_v<T> && sizeof(T) <= 8 && sizeof(x) % size == 0) {
    for (std::size_t i = 0; i != N; i += size / sizeof(T)) {
      T some __attribute__((vector_size(size)));
      __builtin_memcpy(&some, x + i, size);
      os::round_in_register(some);
      __builtin_memcpy(x + i, &some, size);
    }
  } else {
    asm("" : "+m"(x));
  }
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

}}}}  // namespace fj::v0_4::detail::os
