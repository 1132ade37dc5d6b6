// Whether the calls of a thread from outside are over soon after they wake a worker.
#pragma once

#include <cstdint>

#include "forkjoin/abi/relaxed.hpp"
#include "runtime/base/tuning.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A woken thread that lies behind its waker begins once the waker is done or the kernel moves it. To have it begin
/// elsewhere takes both threads system calls, which pay off in calls that last longer than those (runtime/DECISIONS.md,
/// "A woken thread is kept off its waker's CPU"). Calls are expected to be as brief as the last one was. The
/// thread's own; times by os::now_ns.
class caller_pace {
 public:
  /// The call wakes a worker. Whether it is expected to be over soon.
  bool wakes(std::int64_t now) noexcept {
    if (woke_at_ == 0) {
      woke_at_ = now;
      if (!brief_ && ++long_calls_ % tuning::long_calls_for_a_try == 0) brief_ = true;
    }
    return brief_ && now - woke_at_ <= tuning::brief_call_ns;
  }

  bool has_woken() const noexcept { return woke_at_ != 0; }

  /// The call, which has woken a worker, is over.
  void ends(std::int64_t now) noexcept {
    brief_ = now - woke_at_ <= tuning::brief_call_ns;
    woke_at_ = 0;
  }

 private:
  // Strands of the call touch these, too, on its thread.
  relaxed<std::int64_t> woke_at_ = 0;  // first; 0: the call has woken no worker
  relaxed<unsigned> long_calls_ = 0;
  relaxed<bool> brief_ = false;
};

}}}  // namespace fj::v0_4::detail
