// Tells valgrind, in builds with assertions, and AddressSanitizer what they cannot see by themselves.
#pragma once

#include <cstddef>

#include "forkjoin/abi/os/address_checker.hpp"
#include "forkjoin/abi/os/race_detector.hpp"

#if defined(FORKJOIN_DEBUG) && __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define FORKJOIN_MEMORY_CHECKER
#endif

#ifdef FORKJOIN_ADDRESSES_ARE_CHECKED
#include <sanitizer/asan_interface.h>
#endif

#if defined(FORKJOIN_MEMORY_CHECKER) || defined(FORKJOIN_RACE_DETECTOR) || defined(FORKJOIN_ADDRESSES_ARE_CHECKED)
#define FORKJOIN_STACKS_ARE_CHECKED
#endif

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Whether a checker watches accesses below the stack pointer of a stack.
#ifdef FORKJOIN_STACKS_ARE_CHECKED
inline constexpr bool stacks_are_checked = true;
#else
inline constexpr bool stacks_are_checked = false;
#endif

/// Tells Valgrind that this memory may be used. Valgrind treats memory below a stack pointer as gone, even on a stack
/// on which no strand runs and where a caller stores what its callee needs.
inline void usable([[maybe_unused]] void* at, [[maybe_unused]] std::size_t size) noexcept {
#ifdef FORKJOIN_MEMORY_CHECKER
  static_cast<void>(VALGRIND_MAKE_MEM_UNDEFINED(at, size));
#endif
}

/// Tells AddressSanitizer that the system has given this memory. g++ 12's still knows the frames of a stack that was
/// unmapped there.
inline void fresh([[maybe_unused]] void* at, [[maybe_unused]] std::size_t size) noexcept {
#ifdef FORKJOIN_ADDRESSES_ARE_CHECKED
  __asan_unpoison_memory_region(at, size);
#endif
}

}}}}  // namespace fj::v0_4::detail::os
