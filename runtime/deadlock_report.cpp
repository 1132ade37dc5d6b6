// A false report would be worse than none. The proof that a report is true:
//
// 1. The look first checks all that could go on later by itself: timers, descriptors that strands wait for, the
//    monitors. There are none, or they rest. Only a thread that runs could add one.
// 2. The thread that looks counts the threads that sleep for good: for each it sees that no signal has come and in
//    which of its sleeps the thread is. Then it asks the system how many threads the process has. Then it counts again.
// 3. If both counts found the same threads in the same sleeps without a signal, all of them slept without one at the
//    moment when the system was asked: the number of sleeps only grows, and a signal stays until its thread is awake
//    (sched/worker.cpp). A thread outside stays in the list until it goes on, and the list is locked.
// 4. If the process had so many threads at that moment, no other thread ran. So no thread will send a signal.
//
// What another thread did before it went to sleep is visible: a thread says by a seq_cst store, or under the mutex of
// the list, that it sleeps. A sleeping thread may also run a handler of a signal: if the program has one, there is no
// report, unless it is of a signal of faults or of a profiler (os/on_signal.hpp: handles_other_signals), which is taken
// to wake no strand. Threads that this copy of the library does not know count as threads that run.
//
// A thread that has slept for a while makes the look: sched/worker.cpp, and os/futex.hpp: looks for threads outside.
#include "runtime/deadlock_report.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "runtime/base/tuning.hpp"
#include "runtime/instances.hpp"
#include "runtime/lost_fibers.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/on_signal.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/os/turns.hpp"
#include "runtime/wait/outside_threads.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

struct sleeping {
  unsigned threads = 0;        // that sleep for good
  std::uint64_t sleeps = 0;    // the sum of their numbers of sleeps
  bool is_waited_for = false;  // some of them are no workers
  bool goes_on = false;        // by itself, sooner or later
  bool works = false;          // a thread that a runtime knows does not sleep
  bool operator==(const sleeping&) const = default;
};

void add_runtime(sleeping& all, instance& of) noexcept {
  if (of.dispatcher().timekeeper().awaits_any() || of.monitor().is_awake()) {
    all.goes_on = true;
    return;
  }
  all.threads += of.monitor().is_started();
  all.works |= !of.dispatcher().all_idle();
  of.threads().for_each([&all](worker& m) {
    std::uint64_t sleep = 0;
    if (m.sleeps_for_good(sleep)) {
      ++all.threads;
      all.sleeps += sleep;
      all.is_waited_for |= m.is_caller();
    } else if (m.runs) {
      all.works = true;
    } else if (m.wakes_at != never) {
      all.goes_on = true;
      m.signal();  // it sleeps until a timer is due that is no more there: then it sleeps for good
    }
  });
}

sleeping count_sleeping(const instances& known) noexcept FORKJOIN_REQUIRES(known.mutex) {
  sleeping all;
  for (instance* each = known.all.first(); each && !all.goes_on; each = known.all.after(*each))
    if (!each->is_forked_copy()) add_runtime(all, *each);
  outside_sleepers& outside = sleepers_outside();
  const locked lock(outside.mutex);
  for (const outside_sleeper* each = outside.all.first(); each; each = outside.all.after(*each)) {
    all.goes_on |= each->goes_on();
    all.is_waited_for = true;
    ++all.threads;
  }
  all.threads += os::threads_for_signals() + threads_that_watch();
  return all;
}

[[noreturn]] void report_deadlock(const instances& known) noexcept FORKJOIN_REQUIRES(known.mutex) {
  os::print_error(
      "forkjoin: deadlock: every fiber waits, and nothing is left that could wake one: no other thread, no time, no "
      "descriptor.\n");
  print_all_fibers(known);
  std::abort();
}

// Whether a fiber or thread waits for what only threads outside of the library bring, such as a connection from
// Boost.Asio. A program may do nothing else for hours.
bool awaits_others(const instances& known) noexcept FORKJOIN_REQUIRES(known.mutex) {
  bool any = false;
  for_each_waiting_fiber(known, [&any](const fiber& f) { any |= f.waits.ended_by_others(); });
  outside_sleepers& outside = sleepers_outside();
  const locked lock(outside.mutex);
  for (const outside_sleeper* each = outside.all.first(); each; each = outside.all.after(*each))
    any |= each->place.ended_by_others;
  return any;
}

// Whether all has been as it is since the last look of this thread, for long.
bool lasts(os::looks& by, std::uint64_t sleeps) noexcept {
  const bool same = by.since_last_ns >= tuning::long_standstill_ns && by.seen == sleeps;
  by.seen = sleeps;
  return same;
}

void say_once(const instances& known) noexcept FORKJOIN_REQUIRES(known.mutex) {
  static std::atomic<bool> said{false};
  if (said.load(std::memory_order_relaxed) || awaits_others(known) || said.exchange(true, std::memory_order_relaxed))
    return;
  os::print_error(
      "forkjoin: every fiber waits, and only a thread that no runtime knows, or a signal, could wake one. If the "
      "program hangs, "
      "fj::print_fibers says where each fiber waits. This is said once.\n");
}

}  // namespace

void look_for_standstill(os::looks& by) noexcept FORKJOIN_UNANALYSED {
  instances& known = known_instances();
  const std::unique_lock lock(known.mutex, std::try_to_lock);
  if (!lock) return;  // another thread looks, or fork(2) is called
  const sleeping first = count_sleeping(known);
  if (first.goes_on) return;
  const unsigned threads = os::count_threads();
  const sleeping second = count_sleeping(known);
  if (first != second || threads < first.threads || !first.is_waited_for) return;
  const bool all_known = threads == first.threads && (os::turns::mine() || !os::handles_other_signals());
  if (all_known && os::are_threads(threads)) report_deadlock(known);
  const bool others_wait = sleepers_outside().others.load(std::memory_order_relaxed) != 0;
  if (lasts(by, first.sleeps) && !first.works && !others_wait) say_once(known);
}

}}}  // namespace fj::v0_4::detail
