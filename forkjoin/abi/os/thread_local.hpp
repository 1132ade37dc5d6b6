// Reads a thread-local of the thread that runs this code *now*.
#pragma once

// The assembler names of the thread-locals that forkjoin/abi/fork.hpp declares. They contain the version, which C++
// names have from their namespace.
#define FORKJOIN_CURRENT_DEQUE "forkjoin_v0_4_current_deque"
#define FORKJOIN_CURRENT_WORKER "forkjoin_v0_4_current_worker"
#define FORKJOIN_CURRENT_FIBER "forkjoin_v0_4_current_fiber"

/// FORKJOIN_THREAD_LOCAL_READER(reader, type, symbol, variable) defines `type reader()`, which reads the thread-local
/// `variable`, whose assembler name is `symbol`. Needed because a fiber may continue on another thread after any call,
/// while compilers (gcc and clang) take a thread-local's address for a constant and keep it across calls.
///
/// x86-64: two instructions (initial-exec), which work wherever the library is; one (local-exec) in an executable that
/// is linked with the static library, as FORKJOIN_STATIC says. With the shared library local-exec does not link.
/// volatile: the compiler does not merge it with an earlier read.
///
/// FORKJOIN_THREAD_LOCAL_WRITER(writer, type, symbol, variable) defines `void writer(type)` likewise.
#if defined(FORKJOIN_STATIC) && (!defined(__PIC__) || defined(__PIE__))
#define FORKJOIN_IS_IN_EXECUTABLE
#endif

#if defined(__x86_64__) && defined(FORKJOIN_IS_IN_EXECUTABLE)
#define FORKJOIN_LOAD_THREAD_LOCAL(symbol, to) "movq %%fs:" symbol "@tpoff, " to
#define FORKJOIN_STORE_THREAD_LOCAL(symbol, from, spare) "movq " from ", %%fs:" symbol "@tpoff"
#elif defined(__x86_64__)
#define FORKJOIN_LOAD_THREAD_LOCAL(symbol, to) "movq " symbol "@gottpoff(%%rip), " to "\n\tmovq %%fs:(" to "), " to
#define FORKJOIN_STORE_THREAD_LOCAL(symbol, from, spare) \
  "movq " symbol "@gottpoff(%%rip), " spare "\n\tmovq " from ", %%fs:(" spare ")"
#endif

#if defined(__x86_64__)
#define FORKJOIN_THREAD_LOCAL_READER(reader, type, symbol, variable)      \
  [[gnu::always_inline]] inline type reader() noexcept {                  \
    type value;                                                           \
    asm volatile(FORKJOIN_LOAD_THREAD_LOCAL(symbol, "%0") : "=r"(value)); \
    return value;                                                         \
  }
#define FORKJOIN_THREAD_LOCAL_WRITER(writer, type, symbol, variable)                                      \
  [[gnu::always_inline]] inline void writer(type value) noexcept {                                        \
    type spare;                                                                                           \
    asm volatile(FORKJOIN_STORE_THREAD_LOCAL(symbol, "%1", "%0") : "=&r"(spare) : "r"(value) : "memory"); \
  }
#else
// Other CPUs: a call that no compiler looks through or takes for pure.
#define FORKJOIN_THREAD_LOCAL_READER(reader, type, symbol, variable) \
  [[gnu::noinline]] inline type reader() noexcept {                  \
    asm volatile("" ::: "memory");                                   \
    return variable;                                                 \
  }
// Strands of one thread write it, which ThreadSanitizer takes for threads.
#define FORKJOIN_THREAD_LOCAL_WRITER(writer, type, symbol, variable)                                 \
  [[gnu::noinline]] __attribute__((no_sanitize("thread"))) inline void writer(type value) noexcept { \
    asm volatile("" ::: "memory");                                                                   \
    variable = value;                                                                                \
  }
#endif
