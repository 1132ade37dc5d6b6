// What the threads of a runtime call for a layer on top of the library.
#pragma once

#include <cstdint>

#include "forkjoin/abi/relaxed.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class scheduler;

/// Lives as long as the process. Threads call it on their own stacks, between strands: so it must neither fork nor wait
/// for strands.
class thread_hooks {
 public:
  /// The thread is about to run a strand; it is on a P. `seen`: the thread's own, which these calls set; at first 0.
  /// `is_worker`: not a thread that calls run.
  virtual void serves(relaxed<std::uint64_t>& seen, bool is_worker) noexcept = 0;
  /// The worker is about to sleep, or the call of run is over. The thread has no P.
  virtual void rests(relaxed<std::uint64_t>& seen, bool is_worker) noexcept = 0;

 protected:
  ~thread_hooks() = default;
};

/// The hooks that threads of the runtime call: the first that were set stay.
thread_hooks* hooks_of(const scheduler& s) noexcept;
thread_hooks& hook(scheduler& s, thread_hooks& wanted) noexcept;

/// Calls hooks.serves for the calling thread, which runs a strand.
void serve_here(thread_hooks& hooks) noexcept;

}}}  // namespace fj::v0_4::detail
