// The library's side of fj::blocking: a call that may block its thread, as an object (runtime/sched/blocking.cpp).
#pragma once

#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail {

struct fiber;
struct processor;
class scheduler;
struct worker;

/// A blocking call that has begun.
struct begun_call {
  processor* had = nullptr;
  std::uint64_t number = 0;  ///< of the call, for blocking_word; 0: the P cannot be taken
};

/// While one lives, the calling strand keeps its thread, and the thread is outside of any runtime: others may take its
/// P, and the records of the strand. Outside of any runtime it does nothing. The strand may be on another thread
/// afterwards.
class blocking_call {
 public:
  /// `at_once`: the P is given up now. Else the monitor takes it if the call lasts; but if the strand's last calls
  /// lasted, this one is expected to, and gives it up now, too.
  explicit blocking_call(bool at_once) noexcept;
  ~blocking_call();
  blocking_call(const blocking_call&) = delete;
  blocking_call& operator=(const blocking_call&) = delete;

  /// The calling thread's call of a strand that began last and has not ended, or nullptr. Async-signal-safe.
  static const blocking_call* innermost() noexcept;
  /// The one within which this one began, or nullptr.
  const blocking_call* outer() const noexcept { return outer_; }

  /// Of such a call: the fiber, on whose stack the thread runs, and its runtime.
  const fiber& strand() const noexcept { return *fiber_; }
  scheduler& sched() const noexcept;

 private:
  worker* const worker_;  // nullptr: outside
  fiber* fiber_ = nullptr;
  begun_call call_;
  const blocking_call* outer_ = nullptr;
  std::int64_t begun_ns_ = 0;  // of a call that is expected to last
};

}}}  // namespace fj::v0_4::detail
