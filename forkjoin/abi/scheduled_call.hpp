// A call that a fiber of a runtime is to make, in memory of the operation that it is for: what <forkjoin/execution.hpp>
// is made of.
#pragma once

#include <cstddef>

#include "forkjoin/abi/run.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// What the fiber calls, with a copy of this: `operation` says for what.
struct operation_body : job_body {
  operation_body(function f, void* what) noexcept : job_body(f), operation(what) {}

  void* const operation;
};

/// Scheduled once. Its memory is needed until the call begins, and may end as soon as it has begun.
class scheduled_call {
 public:
  /// `body` gets an operation_body with that operation.
  scheduled_call(job_body::function body, void* operation) noexcept : body_(body, operation) {}
  scheduled_call(const scheduled_call&) = delete;
  scheduled_call& operator=(const scheduled_call&) = delete;

  /// From any thread. Takes no memory: a stack comes from the pool of the P that begins the call. If the system refuses
  /// one, the call waits until it gives one, or until another strand ends; if it refuses the runtime its first thread,
  /// this waits for that. Ends the process with a message where the runtime can run nothing: in a process that fork(2)
  /// made after it, and in threads that may not enter it.
  void start(scheduler& s) noexcept;

 private:
  operation_body body_;
  // The library's: runtime/sched/scheduled_call.cpp.
  alignas(8) std::byte memory_[256];
};

}}}  // namespace fj::v0_4::detail
