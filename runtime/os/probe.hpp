// Places at which tools outside of the process can look (USDT: SystemTap, bpftrace, perf, gdb). Where the system's
// header is missing there are none. One that no tool watches is a nop.
#pragma once

#if __has_include(<sys/sdt.h>) && (defined(__x86_64__) || defined(__aarch64__))

#include <sys/sdt.h>

/// The probe forkjoin:event, with a number of runtime/trace/format.hpp, the P, the fiber, and what else the event has.
#define FORKJOIN_PROBE_EVENT(what, proc, fiber, a, b) DTRACE_PROBE5(forkjoin, event, what, proc, fiber, a, b)

#else

#define FORKJOIN_PROBE_EVENT(what, proc, fiber, a, b) static_cast<void>(0)

#endif
