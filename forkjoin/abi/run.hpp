// Runtimes as code that runs in them, or enters them, knows them.
#pragma once

namespace fj { inline namespace v0_4 { namespace detail {

class scheduler;

/// What a call of run brings into a runtime. A derived class has the closure.
struct job_body {
  using function = void (*)(job_body&) noexcept;

  explicit job_body(function f) noexcept : call(f) {}

  /// Runs what the job is for, and keeps its result or exception. Traces name the job by this function.
  function call;
};

/// Has the runtime run the job, from a thread or fiber that is not inside it, and waits until it is over. A calling
/// thread takes part. Throws std::bad_alloc if the system refuses a stack, std::system_error if it refuses every thread
/// that could run the job, std::logic_error in a process that fork(2) made after the runtime, and in a thread that
/// takes no turns where the runtime's do.
void run_job(scheduler& s, job_body& brought);

/// Whether the calling code runs in this runtime.
bool is_inside(const scheduler& s) noexcept;

/// The runtime this code runs in, nullptr outside.
scheduler* current_scheduler() noexcept;

/// The runtime that code outside of any runtime uses. Made at the first call, never ended. After fork(2) the child
/// makes its own.
scheduler& default_scheduler();

/// The index of the P this code runs on, -1 outside.
int current_proc() noexcept;

/// How many P may take part in what the calling code forks: 1 if no fork can be stolen; 0 outside of any runtime.
unsigned procs_here() noexcept;
/// The same for a loop without a grain: 1 if the strand need not cut it, neither for others nor to give way to them.
unsigned procs_for_loop() noexcept;

/// Whether a fork would be welcome, because a worker looks for work or sleeps without any. A hint, for loops that fork
/// only on demand. Inside only.
bool hungry() noexcept;
/// Whether the calling strand, if it answers a request, wakes a worker that sleeps, and whose only work would be the
/// next fork: none of its earlier ones is left. A hint. Inside only.
bool wakes_worker() noexcept;

}}}  // namespace fj::v0_4::detail
