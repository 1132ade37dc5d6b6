// Reading a thread-local that belongs to whatever thread this is *now*.
#pragma once

/// FORKJOIN_THREAD_LOCAL_READER(reader, type, symbol, variable) defines `type reader()`, which reads the thread-local
/// `variable`, whose assembler name is `symbol`. Needed because a fiber may go on on another thread after any call, while compilers
/// take a thread-local's address for a constant and keep it across calls (gcc and clang both do).
///
/// x86-64: one instruction in an executable (local-exec), two in a shared object (initial-exec). The variable must be
/// defined in a header, so that an executable has a definition of its own to address, and marked `used`, because the
/// compiler does not see that the assembly names it. volatile: not merged with an earlier reading.
#if defined(__x86_64__) && defined(__PIC__) && !defined(__PIE__)
#define FORKJOIN_THREAD_LOCAL_READER(reader, type, symbol, variable)                          \
  [[gnu::always_inline]] inline type reader() noexcept {                                      \
    type value;                                                                               \
    asm volatile("movq " #symbol "@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(value)); \
    return value;                                                                             \
  }
#elif defined(__x86_64__)
#define FORKJOIN_THREAD_LOCAL_READER(reader, type, symbol, variable) \
  [[gnu::always_inline]] inline type reader() noexcept {             \
    type value;                                                      \
    asm volatile("movq %%fs:" #symbol "@tpoff, %0" : "=r"(value));   \
    return value;                                                    \
  }
#else
// Elsewhere a call that no compiler looks through or takes for pure.
#define FORKJOIN_THREAD_LOCAL_READER(reader, type, symbol, variable) \
  [[gnu::noinline]] inline type reader() noexcept {                  \
    asm volatile("" ::: "memory");                                   \
    return variable;                                                 \
  }
#endif
