// What valgrind cannot see by itself. Nothing in builds without assertions.
#pragma once

#include <cstddef>

#include "instrumentation.hpp"
#include "race_detector.hpp"

#if defined(FORKJOIN_DEBUG) && __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define FORKJOIN_MEMORY_CHECKER
#endif

#if defined(FORKJOIN_MEMORY_CHECKER) || defined(FORKJOIN_RACE_DETECTOR) || defined(FORKJOIN_ADDRESSES_ARE_CHECKED)
#define FORKJOIN_STACKS_ARE_CHECKED
#endif

namespace fj::inline v0_1::detail::os {

/// Whether somebody checks who reads and writes below the stack pointer of a stack.
#ifdef FORKJOIN_STACKS_ARE_CHECKED
inline constexpr bool stacks_are_checked = true;
#else
inline constexpr bool stacks_are_checked = false;
#endif

/// Says that there is memory. Valgrind takes what lies below the stack pointer for gone, also on a stack that nobody runs
/// on just now and where a caller may lay down what its callee is to find.
inline void usable([[maybe_unused]] void* at, [[maybe_unused]] std::size_t size) noexcept {
#ifdef FORKJOIN_MEMORY_CHECKER
  static_cast<void>(VALGRIND_MAKE_MEM_UNDEFINED(at, size));
#endif
}

}  // namespace fj::inline v0_1::detail::os
