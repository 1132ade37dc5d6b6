// The fast path of a fork in assembly, for x86-64: basic_deque::push and pop on the current deque, instruction by
// instruction what the compilers make of them, save that they compare with memory directly.
//
// Why at all: g++ reckons every std::atomic access as a function call when it decides about inlining, so functions that
// fork were never inlined into each other; as one `asm inline` they are, and recursion unrolls as it does in a serial
// program. Figures in runtime/README.md.
//
// The layout of a deque: bottom at 0, push_limit at 8, split at 16, slots from 128 on; current.hpp asserts it. The
// orders: x86 keeps stores in order, which is all that a release asks for; "memory" keeps the compiler from moving
// anything across. ThreadSanitizer cannot see into assembly and gets the C++.
#pragma once

#include <cstdint>

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define FORKJOIN_FORK_PATH 1
#endif
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef FORKJOIN_FORK_PATH
#endif
#endif

#ifdef FORKJOIN_FORK_PATH

#if defined(__PIC__) && !defined(__PIE__)
#define FORKJOIN_LOAD_CURRENT_DEQUE \
  "movq forkjoin_current_deque@gottpoff(%%rip), %[deque]\n\tmovq %%fs:(%[deque]), %[deque]"
#else
#define FORKJOIN_LOAD_CURRENT_DEQUE "movq %%fs:forkjoin_current_deque@tpoff, %[deque]"
#endif

namespace fj::detail::os {

/// As current_deque().push(record, at).
[[gnu::always_inline]] inline bool push_to_current(const void* record, std::uint64_t& at) noexcept {
  bool attend;
  void* deque;
  std::uint64_t bottom;
  asm volatile inline(FORKJOIN_LOAD_CURRENT_DEQUE
                      "\n\tmovq (%[deque]), %[at]"
                      "\n\tmovq %[record], 128(%[deque],%[at],8)"
                      "\n\tleaq 1(%[at]), %[bottom]"
                      "\n\tmovq %[bottom], (%[deque])"
                      "\n\tcmpq 8(%[deque]), %[bottom]"
                      : "=@ccae"(attend), [deque] "=&r"(deque), [at] "=&r"(at), [bottom] "=&r"(bottom)
                      : [record] "r"(record)
                      : "memory");
  return attend;
}

/// As current_deque().pop(at).
[[gnu::always_inline]] inline bool pop_from_current(std::uint64_t at) noexcept {
  bool is_private;
  void* deque;
  asm volatile inline(FORKJOIN_LOAD_CURRENT_DEQUE
                      "\n\tmovq %[at], (%[deque])"
                      "\n\tcmpq 16(%[deque]), %[at]"
                      : "=@ccae"(is_private), [deque] "=&r"(deque)
                      : [at] "r"(at)
                      : "memory");
  return is_private;
}

}  // namespace fj::detail::os

#undef FORKJOIN_LOAD_CURRENT_DEQUE

#endif
