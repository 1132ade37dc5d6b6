// The constants that tune the scheduler, each with its unit, its reason, and a pointer to its measurement. The model
// checks and the simulator include the code that uses them, so there is no second copy. Those of loops are compiled
// into programs: forkjoin/abi/tuning.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "forkjoin/abi/tuning.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace tuning {

// How a worker looks for work (sched/find.hpp).

/// Nanoseconds that a worker looks around and sees nothing before it parks: a few times as long as a wake-up takes, and
/// about as long as oneTBB's workers look. Measured on two P: runtime/DECISIONS.md. steal_rule.hpp uses it, as
/// until_sleep_ns.
inline constexpr std::int64_t search_ns = 100'000;

/// Nanoseconds that a thief waits for owners to share the records that it sees in their deques before it forces
/// them. Owners that fork at all answer within some nanoseconds.
inline constexpr std::int64_t patience_ns = 10'000;

/// Nanoseconds that a call from outside lasts, after it first woke a worker, at most to be brief: what the system calls
/// that choose a CPU for the worker take both threads. Measured: runtime/DECISIONS.md, "A woken thread is kept off its
/// waker's CPU".
inline constexpr std::int64_t brief_call_ns = 90'000;

/// Of so many calls that last longer, one is taken for brief, to see whether they still last longer.
inline constexpr unsigned long_calls_for_a_try = 16;

/// Nanoseconds that a yield of a spinning worker may take before the worker concludes that another thread, perhaps an
/// owner with records, is busy on its CPU; then it sleeps for nap_ns, because kernels look for an idle CPU for a thread
/// that wakes up. Linux 6.18 left two threads on one of two virtual CPUs for up to 46 ms.
inline constexpr std::int64_t crowded_ns = 200'000;
inline constexpr std::int64_t nap_ns = 1'000;

/// How often a caller without a P looks for one, for a microsecond or two each time, before it leaves its job to others
/// and sleeps: for about as long as the sleep and the wake-up would take. Between two looks it leaves its CPU to other
/// threads, so the time of the clock would be theirs. Measured: runtime/DECISIONS.md.
inline constexpr unsigned caller_looks = 16;

/// Rounds over all deques between two looks at what costs as much as some looks at deques: the clock, the poller.
inline constexpr unsigned rounds_per_look = 16;

/// Pauses between two looks of a worker at deques whose owners run small loops, or while P go from fiber to fiber, some
/// microsecond altogether: each look takes a cache line from an owner. Measured: runtime/DECISIONS.md.
inline constexpr unsigned calm_pauses = 50;

/// For how many times as long as its last round over all deques took a worker stays away from owners of small loops: so
/// its looks, which cost those owners about as much, take no more than a thirtieth of their time. Measured:
/// runtime/DECISIONS.md.
inline constexpr std::int64_t rounds_away = 32;

/// Nanoseconds that it stays away at most. An owner that becomes long in one part may wait for help for as long.
inline constexpr std::int64_t most_away_ns = 50'000;

/// Nanoseconds. A theft holds its thief and its victim up for about a microsecond. A thief that comes back sooner than
/// this after a theft has not found enough to make up for it, and waits as long. Measured: runtime/DECISIONS.md.
inline constexpr std::int64_t short_work_ns = 3'000;

/// How many rounds a waiting task looks for a record to run on top of its stack before it suspends, and how many rounds
/// a worker without work waits for the workers that do so.
inline constexpr unsigned top_rounds = 64;

/// Of how many deques a thief forces records with one heavy fence: their addresses fit into its frame.
inline constexpr std::size_t forced_at_a_time = 64;

/// Nanoseconds that a heavy fence by signal waits for an answer: more than a time slice of the system. A thread that
/// has not answered by then blocks the signal, or has had no CPU (sched/fence_by_signal.hpp).
inline constexpr std::int64_t answers_within_ns = 10'000'000;

/// How often it looks for an answer, which takes a few microseconds, before it leaves its CPU to a thread that may have
/// to answer.
inline constexpr unsigned looks_per_yield = 64;

/// Nanoseconds to wait before the next try after the system refused memory or a thread: much longer than a try takes.
inline constexpr std::int64_t refused_ns = 1'000'000;

// What an owner does off its fast path (sched/owner.hpp).

/// Nanoseconds. To share a record and take it back costs an owner about 100 ns. An owner that takes back a record
/// that was public for a hundred times as long shares at its next fork. Measured: runtime/DECISIONS.md.
inline constexpr std::int64_t long_public_ns = 10'000;

// The queues of ready fibers (sched/run_queue.hpp). Each number is Go's.

/// Fibers that the ring of one P holds: `runq` of Go's p.
inline constexpr std::uint32_t ring_size = 256;

/// Fibers that a worker moves from the global queue to its ring at most: half of that, as in globrunqget.
inline constexpr std::uint32_t batch_size = ring_size / 2;

/// Nanoseconds, by os::rough_ns, that fibers which wake one another may keep a P while others wait: forcePreemptNS.
inline constexpr std::int64_t slice_ns = 10'000'000;

/// Nanoseconds between two requests to give way to fibers that a timer, the poller or a thread outside woke. A strand
/// that is cut loses a few microseconds, with what its caches held; so a hundredth of the time or so, however often
/// fibers are woken.
inline constexpr std::int64_t between_cuts_ns = 200'000;

/// Passes of a thief over all P; in the last one it also takes what a victim runs next: stealTries.
inline constexpr unsigned steal_passes = 4;

/// Nanoseconds that a thief leaves the fiber that runs next to its P, so that fibers which talk to each other stay on
/// one P: runqgrab. Here the thief also leaves it as long as the P goes from fiber to fiber: a round over a channel
/// takes a fifth of a microsecond.
inline constexpr std::int64_t next_is_kept_ns = 3'000;

// How a worker runs fibers (sched/switch.cpp).

/// If fibers resume one another on a worker, the worker looks at the ready queue before every 61st (Go's schedtick %
/// 61).
inline constexpr unsigned ticks_per_look = 61;

/// Where strands wake one another, of so many fibers the time is measured for which one waits for its P. To read the
/// clock twice takes 45 ns, and to wake a fiber and go on with it 100.
inline constexpr unsigned wakes_per_measured = 8;

/// Every so many entries of the ready queue a worker takes the oldest marker (sched/queues.hpp). Each such theft begins
/// a part of the fork tree before the one before is finished: in a tree of 16,384 leaves 78 stacks are in use at once,
/// where the newest marker alone needs 15, and the oldest alone 8,193.
inline constexpr unsigned takes_per_oldest = 61;

// Threads (sched/threads.cpp).

/// Nanoseconds between two tries to start a thread after the system refused one: a refused thread costs about 10 us.
inline constexpr std::int64_t between_refusals_ns = 100'000'000;

// The monitor (sched/monitor_rules.hpp). Each number but lasting_calls, poll_delay_ns and timer_delay_ns is that of
// Go's sysmon.

/// Nanoseconds between two looks of the monitor: the first while it found something to do a short time ago, then twice
/// as much after each look up to the last.
inline constexpr std::int64_t first_delay_ns = 20'000;
inline constexpr std::int64_t last_delay_ns = 10'000'000;

/// Nanoseconds that the monitor lets be, at least, between two wake-ups for timers while all P compute; so a timer may
/// be late by as much.
inline constexpr std::int64_t timer_delay_ns = 500'000;

/// The same once a fiber has been urgent: less than the strands that give way to it take to hear. A wake-up of the
/// monitor takes 5 us.
inline constexpr std::int64_t urgent_timer_delay_ns = 100'000;

/// Calls of fj::blocking that last, one after another, until a strand gives its P up at the next one without the
/// monitor. After fewer, a strand that makes long and short calls in turn would lose its P at each short one, too.
inline constexpr unsigned lasting_calls = 2;

/// Nanoseconds between two looks at the affinity mask and the cgroup's quota (sched/allowance.hpp): Go's.
inline constexpr std::int64_t between_allowances_ns = 1'000'000'000;

/// Looks without anything to do before the delay grows.
inline constexpr unsigned quick_looks = 50;

/// Nanoseconds between two looks of the monitor into the poller while strands wait for descriptors, all P compute, and
/// events come as often; if they come seldom, they wake it. For last_delay_ns after two that came sooner one after
/// another. Go's number is 10 ms. Measured: runtime/WAITS.md.
inline constexpr std::int64_t poll_delay_ns = 200'000;

// Waits (wait/).

/// Nanoseconds that a strand waits for a mutex before the next unlock hands it over: Go's starvationThresholdNs.
inline constexpr std::int64_t starving_ns = 1'000'000;

/// With options::chaos one of so many operations that may wait is preceded by a yield, and one of so many takes from
/// the ready queue goes against its order. Often enough that neighbors change, seldom enough that a program gets on.
/// One of so many fibers that would run next goes behind the others: the coin of runqput in Go's runtime/proc.go.
inline constexpr unsigned waits_per_chaotic_yield = 3;
inline constexpr unsigned takes_per_chaotic_one = 3;
inline constexpr unsigned puts_per_chaotic_one = 2;

/// With options::chaos every fork looks whether to give way, and one of so many does: seldom enough for a tree of some
/// thousand forks.
inline constexpr unsigned forks_per_chaotic_yield = 16;

// The look for a standstill (deadlock_report.cpp).

/// Nanoseconds that a thread has slept before it looks whether the whole program stands still; each look after that
/// comes after twice as long. A look takes about 10 us, so it costs a thread a ten-thousandth of its time at most.
inline constexpr std::int64_t first_look_ns = 100'000'000;

/// Nanoseconds for which nothing has moved before the program says that it may stand still for good, though a thread
/// that the runtime does not know could wake it: longer than most programs wait for such a thread.
inline constexpr std::int64_t long_standstill_ns = 500'000'000;

/// After so long the destructor of a runtime says which fibers it waits for.
inline constexpr std::int64_t long_end_ns = 10'000'000'000;

// Stacks and deques (stacks/).

/// Bytes of a stack, unless options or the environment say otherwise: what a thread gets; and for a fiber of fj::go as
/// little as lets 100,000 of them wait in half a GiB.
inline constexpr std::size_t large_stack = std::size_t{8} << 20, small_stack = std::size_t{192} << 10;

/// Bytes. A fiber of fj::go takes 256 KiB of address space: this guard and options::go_stack_size. A frame that is not
/// larger than the guard cannot step over it.
inline constexpr std::size_t small_guard = std::size_t{64} << 10;

/// Bytes of address space that are reserved for stacks with one system call, at most, unless one stack needs more.
inline constexpr std::size_t most_reserved_for_stacks = std::size_t{128} << 20;

/// How many free stacks of either size a P keeps; the other large ones go to the pool one by one, of the small ones
/// half at once. A P gets the free stacks below a fiber that ends or suspends, and scopes seldom nest deeper than this
/// within one strand.
inline constexpr std::size_t stacks_at_hand = 32;

/// Free stacks of a P beyond which the stack of a strand that ends goes to the pool: one for the next theft, and one
/// more, because strands end on other P than they began on. Without a bound a P to which strands come would keep the
/// stacks of all that end there as long as the pool has others, and when those are gone new ones would be mapped.
inline constexpr std::size_t stacks_of_ended_strands = 2;

/// A deque has room for one record for each so many bytes of stack. A fork takes a frame with a record, a return
/// address and the variables of the forking function, which is more than this.
inline constexpr std::size_t least_frame = 32;

}}}}  // namespace fj::v0_4::detail::tuning
