// What valgrind cannot see by itself. Nothing in builds without assertions.
#pragma once

#include <cstddef>

#if defined(FORKJOIN_DEBUG) && __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define FORKJOIN_MEMORY_CHECKER
#endif

namespace fj::detail::os {

/// Says that there is memory. Valgrind takes what lies below the stack pointer for gone, also on a stack that nobody runs
/// on just now and where a caller may lay down what its callee is to find.
inline void usable([[maybe_unused]] void* at, [[maybe_unused]] std::size_t size) noexcept {
#ifdef FORKJOIN_MEMORY_CHECKER
  static_cast<void>(VALGRIND_MAKE_MEM_UNDEFINED(at, size));
#endif
}

}  // namespace fj::detail::os
