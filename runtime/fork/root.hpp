// A job that came from outside: one call of run.
#pragma once

#include <atomic>

#include "../os/context/context.hpp"

namespace fj::inline v0_1::detail {

struct fiber;
class scheduler;
struct worker;

/// Lies in the frame of run, which waits for it. Records, fibers and deques point to the root they work for.
struct root {
  using function = void (*)(root&) noexcept;

  explicit root(function body) noexcept : call(body) {}

  /// Runs the job and keeps its result or exception.
  function call;
  /// The job starts with the rounding mode of whoever asked for it, and so does every stolen part.
  os::float_environment floats = os::get_float_environment();
  /// And in the handler that run was called in, if there is one.
  void* handled = os::handled_exception(os::this_threads_exceptions());

  // Who waits: a thread, or a fiber of another runtime.
  worker* thread = nullptr;
  fiber* waiter = nullptr;
  scheduler* waiters_scheduler = nullptr;

  std::atomic<bool> done{false};
};

}  // namespace fj::inline v0_1::detail
