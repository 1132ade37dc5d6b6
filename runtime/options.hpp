// How a runtime is set up.
#pragma once

#include <cstddef>

namespace fj::inline v0_1 {

/// For `fj::runtime`; the default runtime takes all defaults.
struct options {
  /// P: how many fibers run at once. 0: as FORKJOIN_PROCS in the environment says, else the processors that the
  /// affinity mask and the cgroup's quota allow. At most 4,096.
  unsigned procs = 0;

  /// Bytes reserved for each fiber's stack, not touched before use. At least 16 KiB.
  std::size_t stack_size = std::size_t{8} << 20;

  /// How many threads the runtime may start; threads that call run come on top. 0: as many as P.
  unsigned max_workers = 0;

  /// Prints to standard error, when the runtime ends, how busy it was, what was stolen, a hint, and the counters, as
  /// FORKJOIN_STATS=1 does.
  bool stats = false;

  /// For tests, and to have ThreadSanitizer see a program's races: every fork is stolen, also with one P, so code after
  /// a fork or join runs on another stack and, if there are several P, often on another thread. Also the rest of a fork
  /// whose child throws is run. Slow. FORKJOIN_STEAL_EVERY_FORK=1 in the environment sets it for every runtime.
  bool steal_every_fork = false;

  /// For programs that keep caches for each thread (thread_local), in builds with ThreadSanitizer; nothing in others:
  /// strands that run on one thread are ordered as they run there, and races between them go unreported, also true ones.
  /// FORKJOIN_TSAN_THREAD_ORDER=1 in the environment sets it for every runtime.
  bool thread_order = false;
};

}  // namespace fj::inline v0_1
