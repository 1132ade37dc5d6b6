// The heavy fence where membarrier(2) is not to be had: each thread that may be in a light fence is interrupted, passes
// a fence, and says so. What can go wrong is that a thread forks and is not asked. Against it:
//
//   thread that forks                          thread that calls the heavy fence
//   1. active = true; fences                   a. stores something (a guard, a request); fences
//   2. light fences: stores, then loads        b. reads active of each; interrupts those that are
//   3. active = false                          c. waits until each has answered, or is not active any more
//
// If b finds a thread active, its answer fences between two of its light fences. If b does not, either the thread comes
// to 1 later, and then its loads see what a stored; or it has been through 3, whose release shows the caller all that
// it stored.
//
// Source: the signal flavour of liburcu (Desnoyers et al., "User-level implementations of read-copy update", 2012). Two
// cheaper ways are no fence: mprotect, as there are CPUs that change the page tables of others without an
// interrupt; and a look into /proc at which threads sleep, as a thread is shown asleep for a moment after it has woken.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A thread's part. It is not active while it sleeps or is in a blocking call, so that no interrupt ends these.
class light_fences {
 public:
  /// By the thread, which may fork from now on.
  void begin() noexcept {
    thread_.store(os::this_thread(), std::memory_order_relaxed);
    is_deaf_.store(os::blocks_interrupts(), std::memory_order_relaxed);
    os::on_interrupt(&answer, this);
    active_.store(true, std::memory_order_release);  // release: pairs with the acquire in is_active
    // Its fence stands between active and the loads after light fences: pairs with the first fence in pass. An
    // interrupt that came since end found no function to answer it.
    answer(this);
  }

  /// Until the next begin it does not.
  void end() noexcept {
    active_.store(false, std::memory_order_release);  // release: pairs with the acquire in is_active
    os::on_interrupt(nullptr, nullptr);
  }

  list_links<light_fences> links;

 private:
  friend class fence_by_signal;

  static void answer(void* of) noexcept {
    auto& self = *static_cast<light_fences*>(of);
    std::uint32_t before = self.answered_.load(std::memory_order_relaxed);
    const std::uint32_t number = self.asked_.load(std::memory_order_acquire);  // acquire: pairs with the release in ask
    os::fence();  // the light fences before and after: pairs with the fences in pass
    // Not if an interrupt has come since `before` was read: it answered what may have been asked later. release: pairs
    // with the acquire in has_answered
    self.answered_.compare_exchange_strong(before, number, std::memory_order_release, std::memory_order_relaxed);
  }

  // acquire: pairs with the releases in begin and end
  bool is_active() const noexcept { return active_.load(std::memory_order_acquire); }

  void ask(std::uint32_t number) noexcept {
    // A deaf thread that has answered after all is not deaf.
    if (has_answered(asked_.load(std::memory_order_relaxed))) is_deaf_.store(false, std::memory_order_relaxed);
    asked_.store(number, std::memory_order_release);  // release: pairs with the acquire in answer
    os::interrupt(thread_.load(std::memory_order_relaxed));
  }

  // acquire: pairs with the release in answer
  bool has_answered(std::uint32_t number) const noexcept {
    return number != 0 && answered_.load(std::memory_order_acquire) == number;
  }

  os::atomic<bool> active_{false};
  os::atomic<int> thread_{0};
  os::atomic<std::uint32_t> asked_{0}, answered_{0};  // numbers of heavy fences
  os::atomic<bool> is_deaf_{false};                   // blocks the signal, or did not answer in time
};

/// The heavy fence of the threads of one runtime.
class fence_by_signal {
 public:
  /// The thread belongs to them from now on.
  void add(light_fences& one) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    all_.push(one);
  }

  /// It was added, and has never begun its part.
  void remove(light_fences& one) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    all_.remove(one);
  }

  /// By a thread whose own part is `own`, or nullptr if it is none of them. True: all others have passed a fence.
  /// False: one did not answer in time, because it blocks the signal or gets no CPU; what it had stored is
  /// visible by now, but may not have been loaded in order.
  [[nodiscard]] bool pass(const light_fences* own) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    if (++number_ == 0) ++number_;
    // What the caller stored, then active of each: pairs with the fence of answer as begin calls it. And what the
    // caller stored, then what the threads load after their answers: pairs with the fence in answer.
    os::fence();
    for (light_fences* one = all_.first(); one; one = all_.after(*one))
      if (one != own && one->is_active()) one->ask(number_);
    bool all_passed = true;
    const std::int64_t until = os::now_ns() + tuning::answers_within_ns;
    for (light_fences* one = all_.first(); one; one = all_.after(*one))
      if (one != own) all_passed &= waits_for(*one, until);
    os::fence();  // the answers, then what the caller loads: pairs with the fence in answer
    if (!all_passed) unanswered_.store(unanswered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return all_passed;
  }

  /// How often pass was not answered by all.
  std::uint64_t unanswered() const noexcept { return unanswered_.load(std::memory_order_relaxed); }

 private:
  bool waits_for(light_fences& one, std::int64_t until) noexcept FORKJOIN_REQUIRES(mutex_) {
    for (unsigned looks = 1;; ++looks) {
      // Asked before, and active anew meanwhile, or never asked by this fence: then it has fenced in begin.
      if (one.asked_.load(std::memory_order_relaxed) != number_ || one.has_answered(number_) || !one.is_active())
        return true;
      if (one.is_deaf_.load(std::memory_order_relaxed)) return false;
      if (os::now_ns() > until) {
        one.is_deaf_.store(true, std::memory_order_relaxed);
        return false;
      }
      looks % tuning::looks_per_yield == 0 ? os::yield_thread() : os::pause();
    }
  }

  os::mutex mutex_;
  linked_list<light_fences, &light_fences::links> all_ FORKJOIN_GUARDED_BY(mutex_);
  std::uint32_t number_ FORKJOIN_GUARDED_BY(mutex_) = 0;
  os::atomic<std::uint64_t> unanswered_{0};
};

}}}  // namespace fj::v0_4::detail
