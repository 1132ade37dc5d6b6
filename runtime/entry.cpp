#include "runtime/entry.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "runtime/base/list.hpp"
#include "runtime/environment.hpp"
#include "runtime/fibers.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/os/memory/pages.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/mutex.hpp"
#include "runtime/os/on_signal.hpp"
#include "runtime/report.hpp"
#include "runtime/stacks/overflow.hpp"
#include "runtime/workers/scheduler.hpp"
#include "runtime/workers/thread_main.hpp"

namespace fj::inline v0_1::detail {

namespace {

// A strand uses its stack at or above its stack pointer, or up to a page below it, if a compiler looks ahead or has a
// red zone. So if the stack pointer is higher up, the access to the guard came by another pointer: one that left an
// array on the heap below, or an array on the stack. A stack pointer far below the access belongs to another stack, on
// which the strand runs code of its own.
bool is_overflow(const std::byte* accessed, const std::byte* stack_pointer) noexcept {
  constexpr std::ptrdiff_t look_ahead = 4096;
  constexpr std::ptrdiff_t largest_frame = 64 << 20;
  if (!stack_pointer) return true;  // not known; an overflow is the most frequent cause
  const std::ptrdiff_t above = stack_pointer - accessed;
  return above <= look_ahead && above >= -largest_frame;
}

// Knows the guards of the running fiber alone: to find those of other fibers would take a lock.
bool report_overflow(const void* address, const void* stack_pointer) noexcept {
  const worker* const m = current_worker();
  const fiber* const f = current_fiber();
  if (!f) return false;
  const auto* const at = static_cast<const std::byte*>(address);
  const bool is_below = at >= f->mapping && at < f->stack_bottom();
  const std::byte* const end = f->mapping + f->mapping_size;
  const bool has_page_above = f->pool == &m->sched().stacks();
  const bool is_above = has_page_above && at >= end - os::page_size() && at < end;
  if (!is_below && !is_above) return false;
  if (is_above || !is_overflow(at, static_cast<const std::byte*>(stack_pointer))) {
    os::print_error("forkjoin: access to the guard page of fiber ");
    os::print_error(f->number);
    os::print_error(" from elsewhere: not an overflow of its stack. A pointer or an index is wrong.\n");
    return false;
  }
  print_overflow(*f, f->pool == &m->sched().stacks() ? "stack_size" : "go_stack_size");
  return true;
}

// A scheduler, and what its runtime needs besides scheduling.
struct instance : scheduler {
  explicit instance(const options& wanted)
      : scheduler(resolve(wanted), &thread_main),
        prints(flag_from_environment("FORKJOIN_STATS", false) || wanted.stats) {}

  const bool prints;
  list_links<instance> links;  // among all
};

// All runtimes of the process. Never destroyed: the default one is not, and a signal may come while the process ends.
struct instances {
  os::mutex mutex;
  linked_list<instance, &instance::links> all FORKJOIN_GUARDED_BY(mutex);
};
instances& known_instances() noexcept {
  static instances& known = *new instances;
  return known;
}

// Whether the calling strand works for a job that a strand of `s` waits for, directly or by way of jobs of other
// runtimes. Then that strand's call of run cannot end before the caller goes on.
bool waits_for_caller(const scheduler& s) noexcept {
  if (!current_worker()) return false;
  for (const root* r = current_deque().whose(); r->waiter; r = r->waiter->whose)
    if (r->waiters_scheduler == &s) return true;
  return false;
}

void print_stats(const scheduler& s) {
  os::print_error(report(stats_of(s), s.settings().steal_every_fork, s.settings().chaos).c_str());
}

}  // namespace

scheduler* open_scheduler(const options& wanted) {
  os::report_memory_faults(&report_overflow);
  static std::atomic<unsigned> asked_in{~0u};  // in which process: a thread does not go through fork(2)
  if (asked_in.exchange(os::process_generation(), std::memory_order_relaxed) != os::process_generation() &&
      flag_from_environment("FORKJOIN_SIGQUIT", false))
    static_cast<void>(print_fibers_on(SIGQUIT));
  auto* const made = new instance(wanted);
  if (made->settings().chaos != 0) any_chaos.store(true, std::memory_order_relaxed);
  instances& known = known_instances();
  const locked lock(known.mutex);
  known.all.push(*made);
  return made;
}

void close_scheduler(scheduler* s) noexcept {
  // Its threads cannot be joined, and strands that were in it cannot end. Its memory goes when the process ends.
  if (s->is_forked_copy()) return;
  auto* const closing = static_cast<instance*>(s);
  if (is_inside(*s)) {
    os::print_error("forkjoin: a runtime was destroyed by code that runs in it; destroy it where run was called.\n");
    std::abort();
  }
  if (waits_for_caller(*s)) {
    os::print_error(
        "forkjoin: a runtime was destroyed by code that it waits for, a job of another runtime that was run from "
        "inside of it; destroy it where its own run was called.\n");
    std::abort();
  }
  closing->loose().request_stop();
  if (closing->prints) print_stats(*s);
  s->wait_until_unused();
  {
    instances& known = known_instances();
    const locked lock(known.mutex);
    known.all.remove(*closing);
  }
  delete closing;
}

scheduler& default_scheduler() {
  // Never deleted: code that runs while the program ends may still use it. Its threads sleep.
  static scheduler& s = [&]() -> scheduler& {
    static instance* made = nullptr;
    made = static_cast<instance*>(open_scheduler({}));
    if (made->prints) std::atexit([] { print_stats(*made); });
    return *made;
  }();
  return s;
}

bool is_inside(const scheduler& s) noexcept { return current_scheduler() == &s; }

scheduler* current_scheduler() noexcept {
  const worker* const m = current_worker();
  return m ? &m->sched() : nullptr;
}

int current_proc() noexcept {
  const worker* const m = current_worker();
  return m && m->proc ? static_cast<int>(m->proc->index) : -1;
}

unsigned procs_here() noexcept {
  const worker* const m = current_worker();
  if (!m) return 0;
  const settings& chosen = m->sched().settings();
  return chosen.steal_every_fork ? std::max(chosen.procs, 2u) : chosen.procs;
}

unsigned procs_of(const scheduler& s) noexcept { return s.settings().procs; }

stats stats_of(const scheduler& s) {
  stats read;
  read.procs.reserve(procs_of(s));
  for (unsigned i = 0; i < procs_of(s); ++i) read.procs.push_back(s.count(i).read(&os::now_ns));
  read.stacks_in_use = s.stacks().in_use() + s.small_stacks().in_use();
  read.stacks_peak = s.stacks().peak() + s.small_stacks().peak();
  read.threads_refused = s.threads_refused();
  read.retakes_refused = s.retakes_refused();
  read.working_ns = s.time_working();
  read.lived_ns = s.age();  // last: none of the times is longer
  return read;
}

void print_fibers() noexcept {
  instances& known = known_instances();
  const locked lock(known.mutex);
  for (instance* each = known.all.first(); each; each = known.all.after(*each)) {
    if (each->is_forked_copy()) continue;
    try {
      os::print_error(describe_fibers(*each).c_str());
    } catch (const std::bad_alloc&) {
      os::print_error("forkjoin: there is no memory to say what the fibers of a runtime do\n");
    }
  }
}

bool print_fibers_on(int signal) noexcept { return os::on_signal(signal, &print_fibers); }

bool hungry() noexcept {
  scheduler& s = current_worker()->sched();
  return s.settings().steal_every_fork || s.dispatcher().hungry();
}

}  // namespace fj::inline v0_1::detail
