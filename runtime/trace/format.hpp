// The file of a trace: what the tracer writes, and forkjoin-trace reads.
//
//   header            one page
//   modules           text: os::modules, so that addresses of code can be named later
//   texts             names and places, which events refer to by their offset: two bytes of length, then the text
//   ring, ring, ...   one for each thread of the runtime, and one for all others; a head, and then its events
//
// All numbers have the byte order of the machine. forkjoin-trace takes the numbers of events and the members of the
// structs from this file (tool/reader.py): one event a line, members of 32 or 64 bits. A reader may come at any time,
// also after the process has been killed: a ring's `count` is stored after the event that it counts. Of a ring that was
// full before, the oldest event may be half overwritten; in a copy (tracer::write) it has the time 0 and is none.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail {

/// What happened. In brackets: what `a` and `b` are. `fiber` is whom it is about, where it says so.
enum class event : std::uint16_t {
  none = 0,
  // Strands. `fiber`: the number of the one it is about.
  stack = 1,  ///< before its first birth in this trace [its lowest address; the end of its stack and of itself]
  /// It is to begin [the code: body of a stolen record, or of a job; the join of that record, 0: of a job].
  born = 2,
  run = 3,    ///< it goes on, on this worker
  off = 4,    ///< it has left this worker's stack
  end = 5,    ///< it has ended [1 + the fiber that waited for it, which this worker runs next; 0: none]
  wait = 6,   ///< it leaves to wait, or to give way [a text, 0: at a join; the join's address]
  ready = 7,  ///< it may go on: whoever made it so is where this was emitted [1: it is urgent]
  loop = 8,   ///< what it has begun is the rest of a loop of forks [the loop's virtual table]
  /// A thief has this one, the parent of a scope's child, go on [1 + the child's fiber; 1 + the thief's, which ends].
  parent = 9,
  on_top = 10,      ///< it runs a record on top of its stack [the code; the join of the record]
  on_top_end = 11,  ///< and has done so
  block = 12,       ///< it begins a call that may block its thread [1: its P is given up at once]
  unblock = 13,     ///< that call is over [1: the P has gone]
  preempt = 14,     ///< it gives way because it was asked to, or at random in chaos
  name = 15,        ///< the user names it [a text]
  child = 17,  ///< it is a child of a scope, which has no birth [the fiber of its parent; its code, 0: not known yet]
  mark = 16,   ///< the user's mark [a text]
  // Work that changes hands, by the worker that does it.
  steal = 32,         ///< a record [the victim's P, no_proc: from the ready queue; the record]
  take = 33,          ///< ready fibers of another P's queue; `fiber`: the first [the victim's P]
  publish = 34,       ///< an owner makes records public [how many are]
  expose = 35,        ///< a thief does so by force [how many are]
  sees_private = 36,  ///< a worker that looks for work sees private records alone [the P of one; no_proc: no longer]
  sees_loops = 37,  ///< it sees owners go from loop to loop, each of them over too soon to be shared [1; 0: no longer]
  // P and threads.
  busy = 48,     ///< the P's worker runs strands from here on
  looking = 49,  ///< it looks for work
  idle = 50,     ///< the P is idle
  park = 51,     ///< a worker has found nothing, and gives its P up
  wake = 52,     ///< a worker gets an idle P [the worker's number]
  awake = 53,    ///< a worker's sleep has ended
  retake = 54,   ///< a P is taken from a strand that is in a blocking call
  poll = 55,     ///< the poller has woken strands
  timers = 56,   ///< timers were due
  job = 57,      ///< a thread brings a job, by run [the code]
  job_end = 58,  ///< that is over
};

struct trace_event {
  std::atomic<std::uint64_t> at;    ///< os::ticks
  std::atomic<std::uint64_t> what;  ///< the event's kind, from bit 16 on its P, from bit 32 on its fiber
  std::atomic<std::uint64_t> a, b;
};

inline constexpr unsigned no_proc = 0xffff;

inline constexpr std::size_t ring_head_size = 64;  ///< bytes from the begin of a ring to its first event

struct trace_ring_head {
  std::atomic<std::uint64_t> count;  ///< events so far; the newest are there
  std::uint64_t capacity;            ///< events that it has room for, a power of two
  std::uint32_t worker;              ///< the number of its worker; callers of run from 0x10000 on
  std::uint32_t is_outside;          ///< 1: of threads that are not the runtime's workers
};

struct trace_header {
  static constexpr std::uint64_t right_magic = 0x3130'6563'6172'7466u;  // "ftrace01"

  std::uint64_t magic;
  std::uint32_t pid, procs;
  std::uint64_t modules_at, modules_size;
  std::uint64_t texts_at, texts_size;
  std::uint64_t rings_at;
  std::atomic<std::uint64_t> rings;                ///< how many there are
  std::uint64_t ring_size;                         ///< bytes of each
  std::atomic<std::uint64_t> without_ring;         ///< threads for which there was no room: their events are missing
  std::uint64_t first_ticks, first_ns;             ///< the same moment by both clocks
  double ns_per_tick;                              ///< measured when the trace began; more exactly by the last pair
  std::atomic<std::uint64_t> last_ticks, last_ns;  ///< the end of the trace; 0 if it was cut off
  std::uint64_t began_unix_ns;                     ///< the wall clock's time then
};

}}}  // namespace fj::v0_4::detail
