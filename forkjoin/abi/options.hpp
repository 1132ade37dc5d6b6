// The options of a runtime.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fj { inline namespace v0_4 {

/// A schedule that repeats, for options::schedule.
struct replay {
  /// Which schedule; 0: none.
  std::uint64_t seed = 0;
  /// The same schedule but for these choices, in the form in which fj::explore prints them: "12=2,40=1" for the thread
  /// with number 2 at the twelfth choice, and so on. Everywhere else the thread that has the turn goes on where it can.
  /// Copied. nullptr: all as the seed has it.
  const char* changes = nullptr;
};

/// For `fj::runtime`, and for the default runtime by fj::default_options.
struct options {
  /// P: how many strands run at once. 0: the environment variable FORKJOIN_PROCS, else the number of CPUs that
  /// the affinity mask and the cgroup's quota allow. At most 4,096. runtime::set_procs says how many of them are in
  /// use. A thread that the runtime starts gets the affinity mask of the one that needs it, most often the caller of
  /// run. So if threads that are bound to one CPU call run, another one should be the first.
  unsigned procs = 0;

  /// Bytes reserved for each fiber's stack, not touched before use. From 16 KiB to 1 TiB. 0: the environment variable
  /// FORKJOIN_STACK_SIZE, else 8 MiB.
  std::size_t stack_size = 0;

  /// Bytes of stack for each fiber of fj::go, unless go_options say otherwise. From 16 KiB to 1 TiB. 0: the environment
  /// variable FORKJOIN_GO_STACK_SIZE, else 192 KiB. What such a fiber forks runs on stacks of stack_size once it is
  /// stolen, but on the fiber's own until then.
  std::size_t go_stack_size = 0;

  /// How many threads the runtime may start. Threads that call run are not counted. One for each P is enough for forks
  /// and waits; each call of fj::blocking that lasts takes one more. 0: the number of Ps plus 256. At most 65,536.
  unsigned max_workers = 0;

  /// Each thread that the runtime starts calls the first one before it runs anything, and the second one when it ends:
  /// to set its name or its priority, to make and free what the program keeps for each thread. `worker`: 0 for the
  /// first of these threads, and so on; unless the call changes it, their names are "fj-0", "fj-1" and so on. Each is
  /// called on the thread, outside of the runtime, while others may call it for theirs. It must not wait for code
  /// that runs in this runtime, which may need this very thread; run and go of this runtime throw std::logic_error
  /// there. One that throws ends the program. Threads that
  /// call run, and the monitor's, call neither.
  void (*on_worker_start)(unsigned worker) = nullptr;
  void (*on_worker_stop)(unsigned worker) = nullptr;

  /// When the runtime ends, it prints to standard error how busy it was, what was stolen, a hint, and the counters, as
  /// with FORKJOIN_STATS=1.
  bool stats = false;

  /// A file, unless empty: the runtime traces into it from its begin to its end, as with runtime::trace_to. Copied.
  /// nullptr: the environment variable FORKJOIN_TRACE, in which "%p" stands for the number of the process; a second
  /// runtime of the process appends ".2", and so on.
  const char* trace = nullptr;

  /// A file, unless empty: the flight recorder. The runtime keeps its newest events in memory, as with `trace`, and
  /// writes them there when its strands stand still, when it prints its fibers at a signal, and when a strand has kept
  /// its P for 100 ms while others were ready (FORKJOIN_LONG_RUN_MS in the environment: another number, 0: never),
  /// whose backtrace it prints. runtime::write_trace writes them anywhere. If the file could not be written, the
  /// runtime throws std::system_error when it is made. Copied. nullptr: the environment variable
  /// FORKJOIN_FLIGHT_RECORDER, as with `trace`.
  const char* flight_recorder = nullptr;

  /// For tests, and to make ThreadSanitizer see a program's races: every fork is stolen, even with one P. So code after
  /// a fork or join runs on another stack and, if there are several P, often on another thread. If the child of a fork
  /// throws, the rest still runs. Slow. FORKJOIN_STEAL_EVERY_FORK=1 in the environment sets it for every runtime.
  bool steal_every_fork = false;

  /// For tests: a seed other than 0 makes schedules that are otherwise rare. Before an operation on a channel, a lock
  /// or a future, and at forks, the strand at times lets others run first, and workers at times take what is ready in
  /// another order. The promise of serial order on one P is kept by programs that do not wait. With one P the same seed
  /// gives the same choices; with more, each P makes its own. Slow. FORKJOIN_CHAOS=seed in the environment sets it for
  /// runtimes that leave it 0.
  std::uint64_t chaos = 0;

  /// For tests, and to see a failure again: a seed other than 0 makes one schedule, and the same each time. The threads
  /// of the runtime and the one that makes it take turns: one goes on at a time, and at each fork, join, theft, wait,
  /// and operation of <forkjoin/go.hpp> that may wait the seed says which. Their time is counted, not measured: where
  /// all would sleep, the first sleep is over at once. With the same seed, a program that depends on nothing outside
  /// of it takes the same course on any machine; stats::schedule_hash tells. `procs` is 4 if nothing says how many.
  /// Runtimes of other threads cannot take part, and threads of the program's own take no turns. Calls from those
  /// throw std::logic_error. fj::explore tries many seeds. FORKJOIN_SCHEDULE=seed in the environment sets it for
  /// runtimes that leave it 0.
  replay schedule = {};

  /// Where the system forbids membarrier(2), a thread has the others pass a fence by this signal. The number of any
  /// that the program does not use; its handler stays for good, and threads that call `run` should not block it. A
  /// system call that such a thread sleeps in may return EINTR, but not within fj::blocking. The first runtime of the
  /// process that needs a signal chooses it. 0: the environment variable FORKJOIN_FENCE_SIGNAL, else SIGURG. Where
  /// membarrier is allowed the number is neither used nor checked.
  int fence_signal = 0;

  /// For programs that keep caches for each thread (thread_local), in builds with ThreadSanitizer; in other builds it
  /// does nothing. Strands that run on one thread are ordered as they run there. So ThreadSanitizer reports no races
  /// between them, true ones included. FORKJOIN_TSAN_THREAD_ORDER=1 in the environment sets it for every runtime.
  bool thread_order = false;
};

}}  // namespace fj::v0_4
