#include "forkjoin/abi/runtime.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "forkjoin/abi/os/clock.hpp"
#include "runtime/deadlock_report.hpp"
#include "runtime/environment.hpp"
#include "runtime/fibers.hpp"
#include "runtime/flight_recorder.hpp"
#include "runtime/instances.hpp"
#include "runtime/lost_fibers.hpp"
#include "runtime/os/cpu.hpp"
#include "runtime/os/futex.hpp"
#include "runtime/os/memory/pages.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/on_signal.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/os/turns.hpp"
#include "runtime/report.hpp"
#include "runtime/sched/run.hpp"
#include "runtime/stacks/overflow.hpp"
#include "runtime/trace/emit.hpp"
#include "runtime/wait/outside_threads.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

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

// Whether the fiber, which has not ended, is one that go started. A job that run brought has a caller.
bool runs_go(const fiber& f) noexcept {
  return f.begun && !f.stolen && !f.whose->caller && !f.whose->waiter && !f.whose->scheduled;
}

// Knows the guards of the running fiber alone: to find those of other fibers would take a lock.
bool report_overflow(const void* address, const void* stack_pointer) noexcept {
  const fiber* f = current_fiber();
  const worker* const m = current_worker();
  const blocking_call* const call = blocking_call::innermost();
  if (!f && !call) return false;
  scheduler& s = f ? m->sched() : call->sched();
  if (!f) f = &call->strand();  // its stack is the thread's while the call lasts
  const auto* const at = static_cast<const std::byte*>(address);
  const bool is_below = at >= f->mapping && at < f->stack_bottom();
  const std::byte* const end = f->mapping + f->mapping_size;
  const bool has_page_above = f->pool != &s.small_stacks();
  const bool is_above = has_page_above && at >= end - os::page_size() && at < end;
  if (!is_below && !is_above) return false;
  if (is_above || !is_overflow(at, static_cast<const std::byte*>(stack_pointer))) {
    os::print_error("forkjoin: access to the guard page of fiber ");
    os::print_error(f->number);
    os::print_error(" from elsewhere: not an overflow of its stack. A pointer or an index is wrong.\n");
    return false;
  }
  print_overflow(*f, runs_go(*f));
  return true;
}

// Whether a strand of the job works for one that a strand of `s` waits for, directly or by way of jobs of other
// runtimes. Then that strand's call of run cannot end before this one goes on.
bool waits_for(const scheduler& s, const job* r) noexcept {
  for (; r->waiter; r = r->waiter->whose)
    if (r->waiters_scheduler == &s) return true;
  return false;
}

// Whether the calling code is that of a strand of `s`, in a blocking call perhaps, or one for which such a strand
// waits.
bool waits_for_caller(const scheduler& s) noexcept {
  if (current_worker() && waits_for(s, current_deque().whose())) return true;
  for (const blocking_call* call = blocking_call::innermost(); call; call = call->outer())
    if (&call->sched() == &s || waits_for(s, call->strand().whose)) return true;
  return false;
}

// An end that takes long: says once which fibers it waits for.
class slow_end {
 public:
  explicit slow_end(instance& of) noexcept : of_(of) {}

  void look() noexcept {
    const std::int64_t lasted = os::now_ns() - begun_;
    if (!seen_ && lasted >= tuning::long_end_ns / 10) {
      seen_ = true;
      try {
        before_ = see_waits(of_);
      } catch (const std::bad_alloc&) {}
    }
    if (told_ || lasted < tuning::long_end_ns) return;
    told_ = true;
    os::print_error("forkjoin: the destructor of fj::runtime has waited for over ");
    os::print_error(static_cast<unsigned long>(tuning::long_end_ns / 1'000'000'000));
    os::print_error(" s, until all fibers of the runtime have ended. Set FORKJOIN_DEADLOCK=0 for no such message.\n");
    try {
      os::print_error(describe_fibers(of_, &before_).c_str());
    } catch (const std::bad_alloc&) {}
    write_flight(of_);
  }

 private:
  instance& of_;
  const std::int64_t begun_ = os::now_ns();
  seen_waits before_;
  bool seen_ = false, told_ = false;
};

// Until nothing runs in `s` any more: until its fibers have done what they wait for.
void wait_for_end(instance& s) noexcept {
  constexpr int yields = 1000;
  constexpr std::int64_t longest_ns = 1'000'000;
  for (int i = 0; i < yields && !s.is_unused(); ++i) os::yield_thread();
  if (!s.is_unused()) report_lost_fibers();
  slow_end slow(s);
  outside_sleeper here({.what = "the destructor of fj::runtime"}, s,
                       [](const instance& of) noexcept { return of.is_unused(); });
  for (std::int64_t delay = longest_ns / 64; !s.is_unused(); delay = std::min(2 * delay, longest_ns)) {
    os::sleep_ns(delay);
    if (here.looks.is_due()) here.look();
    if (here.looks.any()) slow.look();
  }
}

// nullptr: into memory.
void begin_trace(scheduler& s, const char* path) {
  s.traces().begin(path, s.settings().procs, trace_events_from_environment());
  s.threads().attend_trace();
}

void refuse_null(const char* path, const char* what) {
  if (!path) throw std::invalid_argument(std::string(what) + ": the path is a null pointer; pass the name of a file");
}

void print_stats(const instance& s) noexcept {
  // Threads that ended meanwhile took their times along.
  const os::cpu_time now = os::time_of_threads();
  const report_options as{.steals_every_fork = s.settings().steal_every_fork,
                          .chaos = s.settings().chaos,
                          .ran_ns = now.ran - std::min(now.ran, s.before.ran),
                          .queued_ns = now.queued - std::min(now.queued, s.before.queued)};
  try {
    os::print_error(report(stats_of(s), as).c_str());
  } catch (const std::bad_alloc&) {
    os::print_error("forkjoin: there is no memory for the statistics\n");
  }
}

}  // namespace

scheduler* open_scheduler(const options& wanted) {
  os::report_memory_faults(&report_overflow);
  static std::atomic<unsigned> asked_in{~0u};  // in which process: a thread does not go through fork(2)
  const bool on_sigquit = flag_from_environment("FORKJOIN_SIGQUIT", false);  // throws each time
  if (asked_in.exchange(os::process_generation(), std::memory_order_relaxed) != os::process_generation() && on_sigquit)
    static_cast<void>(print_fibers_on(SIGQUIT));
  if (const auto watch = lost_fibers_from_environment(); watch.most_bytes > 0)
    watch_lost_fibers(watch.most_bytes, watch.rest_ns);
  if (flag_from_environment("FORKJOIN_DEADLOCK", true)) os::looks::are(&look_for_standstill);
  auto* const made = new instance(wanted);
  try {
    if (const std::string file = trace_file(wanted); !file.empty()) {
      begin_trace(*made, file.c_str());
    } else if (!made->flight_file.empty()) {
      begin_trace(*made, nullptr);
    }
    if (!made->flight_file.empty()) {
      tracer::refuse_unwritable(made->flight_file.c_str());  // not only once something has gone wrong
      report_long_runs(*made);
    }
  } catch (...) {
    delete made;
    throw;
  }
  if (made->settings().chaos != 0 || made->settings().in_turns)
    yield_requests.fetch_add(1, std::memory_order_relaxed);  // never taken back
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
    os::print_error(
        "forkjoin: a runtime was destroyed by code that runs in it; destroy it where run was called. If that code "
        "called "
        "exit, which destroys static objects: return from run first, use the default runtime, or call "
        "std::quick_exit.\n");
    std::abort();
  }
  if (s->settings().in_turns && !os::turns::self()) {
    os::print_error(
        "forkjoin: a runtime whose threads take turns (options::schedule, FORKJOIN_SCHEDULE) was destroyed by a thread "
        "that takes none; destroy it where it was made\n");
    std::abort();
  }
  if (waits_for_caller(*s)) {
    os::print_error(
        "forkjoin: a runtime was destroyed by code that it waits for, in a call of fj::blocking or in a job of another "
        "runtime that was run from inside of it; destroy it where its own run was called. If that code called exit, "
        "which "
        "destroys static objects: return from run first, use the default runtime, or call std::quick_exit.\n");
    std::abort();
  }
  closing->loose().request_stop();
  if (closing->prints) print_stats(*closing);
  // The fibers may wait for strands of the runtime that this code runs in: those need its P. In a forked copy there are
  // none.
  std::optional<blocking_call> gives_processor_away;
  if (const worker* const m = current_worker(); m && !m->sched().is_forked_copy())
    gives_processor_away.emplace(!s->is_unused());
  wait_for_end(*closing);
  {
    instances& known = known_instances();
    const locked lock(known.mutex);
    known.all.remove(*closing);
  }
  delete closing;
}

scheduler& default_scheduler() {
  // Never deleted: code that runs while the program ends may still use it. Its threads sleep. No static variable that
  // makes itself: in the copy of a process that another thread made meanwhile it would never be ready.
  instances& known = known_instances();
  // acquire: pairs with the release below
  if (instance* const made = known.by_default.load(std::memory_order_acquire)) return *made;
  const locked lock(known.making_default);
  if (instance* const made = known.by_default.load(std::memory_order_relaxed)) return *made;
  auto* const made = static_cast<instance*>(open_scheduler(known.default_options));
  known.by_default.store(made, std::memory_order_release);  // release: pairs with the acquires above and below
  if ((made->prints || made->traces().now() || threads_that_watch() > 0) && !std::exchange(known.attends_exit, true))
    std::atexit([] {
      instance* const last = known_instances().by_default.load(std::memory_order_acquire);
      if (!last) return;  // a child of fork(2) that made none
      last->traces().end();
      report_lost_fibers();
      if (last->prints) print_stats(*last);
    });
  return *made;
}

void trace_to(scheduler& s, const char* path) {
  refuse_null(path, "fj::runtime::trace_to");
  begin_trace(s, path);
}

void write_trace(scheduler& s, const char* path) {
  refuse_null(path, "fj::runtime::write_trace");
  s.traces().write(path);
}

void stop_trace(scheduler& s) noexcept {
  s.traces().end();
  s.threads().attend_trace();
}

namespace {

void emit_text(event what, std::string_view text) noexcept {
  const worker* const m = current_worker();
  trace_ring* const ring = m ? static_cast<trace_ring*>(m->trace) : nullptr;
  if (ring) emit_event(*m, what, ring->whose().text(text), 0, current_fiber()->number);
}

}  // namespace

void trace_name(const char* text, std::size_t length) noexcept { emit_text(event::name, {text, length}); }
void trace_mark(const char* text, std::size_t length) noexcept { emit_text(event::mark, {text, length}); }

void set_default_options(const options& wanted) {
  static_cast<void>(resolve(wanted));  // throws if one makes no sense
  instances& known = known_instances();
  const locked lock(known.making_default);
  if (known.by_default.load(std::memory_order_relaxed))
    throw std::logic_error(
        "fj::default_options: the default runtime is there already; call it earlier, before anything enters that "
        "runtime");
  // The program's texts may end after this call, and the default runtime begins later. Never destroyed, as that
  // runtime.
  static auto& texts = *new std::array<std::string, 3>;
  known.default_options = wanted;
  // With an option more this does not compile: name it, and if it is a text keep it below.
  auto& [procs, stack_size, go_stack_size, max_workers, on_worker_start, on_worker_stop, stats, trace, flight_recorder,
         steal_every_fork, chaos, schedule, fence_signal, thread_order] = known.default_options;
  auto& [seed, changes] = schedule;
  std::size_t at = 0;
  for (const char** each : {&trace, &flight_recorder, &changes}) {
    std::string& kept = texts[at++];
    if (*each) *each = (kept = *each).c_str();
  }
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

unsigned procs_for_loop() noexcept {
  const unsigned procs = procs_here();
  return procs == 1 && current_worker()->sched().monitor().is_started() ? 2 : procs;
}

unsigned procs_of(const scheduler& s) noexcept { return s.settings().procs; }

void set_procs(scheduler& s, unsigned procs) {
  refuse_job(s);
  if (procs > procs_of(s))
    throw std::invalid_argument("fj::runtime::set_procs: " + std::to_string(procs) + " is more than the " +
                                std::to_string(procs_of(s)) +
                                " P that the runtime was made with; make it with so many, by fj::options::procs or "
                                "FORKJOIN_PROCS, or set at most " +
                                std::to_string(procs_of(s)));
  s.use_procs(procs);
}

unsigned procs_in_use(const scheduler& s) noexcept { return s.procs_in_use(); }

stats stats_of(const scheduler& s) {
  stats read;
  read.procs.reserve(procs_of(s));
  for (unsigned i = 0; i < procs_of(s); ++i) read.procs.push_back(s.count(i).read(&os::now_ns));
  read.procs_in_use = procs_in_use(s);
  s.for_each_pool([&read](const stack_pool& each) {
    read.stacks_in_use += each.in_use();
    read.stacks_peak += each.peak();
  });
  read.threads_refused = s.threads_refused();
  read.retakes_refused = s.retakes_refused();
  read.forks_fence = s.settings().eager && !s.settings().steal_every_fork && !s.settings().in_turns;
  read.fences_unanswered = s.fences_unanswered();
  if (const schedule_log* const log = s.settings().in_turns ? schedule_session::log() : nullptr) {
    read.schedule_choices = log->choices.load(std::memory_order_relaxed);
    read.schedule_hash = log->hash.load(std::memory_order_relaxed);
  }
  const time_alone::times busy = s.times_alone();
  read.alone_ns = busy.alone;
  read.short_loops_ns = busy.short_loops;
  read.working_ns = s.time_working();
  read.none_busy_ns = read.working_ns - std::min(read.working_ns, busy.any);
  read.lived_ns = s.age();  // last: none of the times is longer
  return read;
}

void report_ended_thread() noexcept {
  os::print_error(
      "forkjoin: pthread_exit was called by code that runs in a runtime, or pthread_cancel for its thread; but the "
      "thread is "
      "the runtime's, and runs other code, too. Return from the function, or throw; to stop it from elsewhere, use a "
      "fj::stop_token.\n");
  std::abort();
}

void print_fibers() noexcept {
  instances& known = known_instances();
  const locked lock(known.mutex);
  print_all_fibers(known);
}

std::string describe_fibers() {
  instances& known = known_instances();
  const locked lock(known.mutex);
  return describe_all_fibers(known);
}

fiber_counts count_fibers() noexcept {
  fiber_counts all;
  instances& known = known_instances();
  const locked lock(known.mutex);
  for (instance* each = known.all.first(); each; each = known.all.after(*each))
    if (!each->is_forked_copy()) add_fibers(all, *each);
  return all;
}

bool print_fibers_on(int signal) noexcept { return os::on_signal(signal, &print_fibers); }

thread_hooks* hooks_of(const scheduler& s) noexcept { return s.hooks(); }
thread_hooks& hook(scheduler& s, thread_hooks& wanted) noexcept { return s.hook(wanted); }

bool hungry() noexcept {
  scheduler& s = current_worker()->sched();
  return s.settings().steal_every_fork || s.dispatcher().hungry();
}

// As owner.hpp: answer_request.
bool wakes_worker() noexcept {
  const worker& m = *current_worker();
  auto& dispatcher = m.sched().dispatcher();
  return !m.sched().settings().steal_every_fork && !dispatcher.any_spinning() && dispatcher.hungry() &&
         m.proc->active.load(std::memory_order_relaxed)->looks_empty();
}

}}}  // namespace fj::v0_4::detail
