// The part of the runtime that the public headers may use.
#pragma once

#include "base/cache_line.hpp"
#include "base/tuning.hpp"
#include "fiber_reports.hpp"
#include "options.hpp"
#include "os/compiler.hpp"
#include "os/ticks.hpp"
#include "stats.hpp"

#include <string>

// The serial build needs only these.
#ifndef FORKJOIN_SERIAL

#include "base/check.hpp"
#include "explore.hpp"
#include "fork/continuation.hpp"
#include "fork/current.hpp"
#include "fork/deque.hpp"
#include "os/instrumentation.hpp"
#include "os/mutex.hpp"
#include "os/thread_safety.hpp"
#include "sched/blocking.hpp"
#include "sched/run.hpp"
#include "sched/thread_hooks.hpp"
#include "strand/child.hpp"
#include "strand/fork_loop.hpp"
#include "strand/fork_slow.hpp"
#include "strand/give_way.hpp"
#include "strand/on_top.hpp"
#include "wait/channel.hpp"
#include "wait/descriptors/descriptor.hpp"
#include "wait/go_root.hpp"
#include "wait/local.hpp"
#include "wait/maybe_yield.hpp"
#include "wait/mutex_protocol.hpp"
#include "wait/select.hpp"
#include "wait/sleep.hpp"
#include "wait/task_group.hpp"
#include "wait/wait_queue.hpp"
#include "wait/waiter.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

class scheduler;

// Makes a runtime. Throws std::invalid_argument for an option or environment variable that makes no sense,
// std::bad_alloc.
scheduler* open_scheduler(const options& wanted);
void close_scheduler(scheduler* s) noexcept;

/// The runtime that code outside of any runtime uses. Made at the first call, never ended. After fork(2) the child makes its own.
scheduler& default_scheduler();
/// As fj::default_options.
void set_default_options(const options& wanted);
/// Runtimes that are made from now on have stacks of at least so many bytes, whatever their options say. For tbb::global_control.
void set_least_stack(std::size_t bytes) noexcept;

/// Whether the calling code runs in this runtime.
bool is_inside(const scheduler& s) noexcept;

/// How many P may take part in what the calling code forks: 1 if no fork can be stolen; 0 outside of any runtime.
unsigned procs_here() noexcept;
/// The same for a loop without a grain: 1 if the strand need not cut it, neither for others nor to give way to them.
unsigned procs_for_loop() noexcept;
unsigned procs_of(const scheduler& s) noexcept;
/// As their namesakes in forkjoin/run.hpp.
void set_procs(scheduler& s, unsigned procs);
unsigned procs_in_use(const scheduler& s) noexcept;
stats stats_of(const scheduler& s);

/// As their namesakes in forkjoin/run.hpp and forkjoin/trace.hpp.
void trace_to(scheduler& s, const char* path);
void write_trace(scheduler& s, const char* path);
void stop_trace(scheduler& s) noexcept;
void trace_name(const char* text, std::size_t length) noexcept;
void trace_mark(const char* text, std::size_t length) noexcept;

/// The runtime this code runs in, nullptr outside.
scheduler* current_scheduler() noexcept;
/// The index of the P this code runs on, -1 outside.
int current_proc() noexcept;

/// As their namesakes in forkjoin/go/print_fibers.hpp.
void print_fibers() noexcept;
bool print_fibers_on(int signal) noexcept;
std::string describe_fibers();
fiber_counts count_fibers() noexcept;
/// As fj::lost_fibers.
lost_report find_lost_fibers();

/// Ends the process: code that runs in a runtime called pthread_exit, or another thread cancelled its thread.
[[noreturn, gnu::cold]] void report_ended_thread() noexcept;

/// The hooks that threads of the runtime call: the first that were set stay.
thread_hooks* hooks_of(const scheduler& s) noexcept;
thread_hooks& hook(scheduler& s, thread_hooks& wanted) noexcept;

/// Whether a fork would be welcome, because a worker looks for work or sleeps without any. A hint, for loops that fork
/// only on demand. Inside only.
bool hungry() noexcept;

}}}  // namespace fj::v0_2::detail

#endif
