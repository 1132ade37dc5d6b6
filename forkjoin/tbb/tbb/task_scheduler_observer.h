// Observers: a thread says so when it begins to run code of a runtime, and when it stops to.
#pragma once

#include "detail/left_out.h"
#include "detail/runtime.h"
#include "task_arena.h"

#include <forkjoin/abi/thread_hooks.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tbb {

class task_scheduler_observer;

namespace fj_detail {

/// Those of a runtime, which they never leave.
class observers final : public fj::detail::thread_hooks {
 public:
  static observers& of(fj::detail::scheduler& runtime) {
    if (fj::detail::thread_hooks* const there = fj::detail::hooks_of(runtime)) return static_cast<observers&>(*there);
    auto* const made = new observers;
    auto& kept = static_cast<observers&>(fj::detail::hook(runtime, *made));
    if (&kept != made) delete made;  // another thread was first
    return kept;
  }

  void add(task_scheduler_observer& one) {
    const std::scoped_lock held(mutex_);
    // release: pairs with the acquire in serves
    last_.store(last_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    active_.emplace(last_.load(std::memory_order_relaxed), &one);
  }
  /// Waits until no thread calls it any more.
  void remove(task_scheduler_observer& one) {
    std::unique_lock held(mutex_);
    std::erase_if(active_, [&](const auto& each) { return each.second == &one; });
    calls_end_.wait(held, [&] { return calls_[&one] == 0; });
    calls_.erase(&one);
  }

  void serves(std::uint64_t& seen, bool is_worker) noexcept override {
    if (seen != last_.load(std::memory_order_acquire)) call_new(seen, is_worker);
  }
  void rests(std::uint64_t& seen, bool is_worker) noexcept override;

 private:
  using numbers = std::map<std::uint64_t, task_scheduler_observer*>;

  void call_new(std::uint64_t& seen, bool is_worker) noexcept;
  template <class Call>
  void call_each(numbers::iterator first, numbers::iterator last, std::unique_lock<std::mutex>& held, Call call);

  std::mutex mutex_;
  std::condition_variable calls_end_;
  std::atomic<std::uint64_t> last_{0};
  numbers active_;
  std::map<task_scheduler_observer*, unsigned> calls_;
};

}  // namespace fj_detail

/// Calls on_scheduler_entry(is_worker) in a thread before the thread runs code of the runtime, and
/// on_scheduler_exit(is_worker) after that: when a worker is about to sleep, or when a call from outside is over;
/// is_worker is false in the latter. The runtime is an arena's, or that of the code that calls observe; outside of any,
/// the default one. A thread that is in it when the observer becomes active makes its first call before it runs the
/// next strand; the one that calls observe in a runtime, at once. Each exit follows an entry, but none follows the end
/// of observing.
///
/// The calls run between strands, on the thread's own stack: an algorithm there ends the process with a message. What
/// they throw ends it, too.
class task_scheduler_observer {
 public:
  task_scheduler_observer() = default;
  explicit task_scheduler_observer(task_arena& arena) : arena_(&arena) {}
  task_scheduler_observer(const task_scheduler_observer&) = delete;
  task_scheduler_observer& operator=(const task_scheduler_observer&) = delete;
  virtual ~task_scheduler_observer() { observe(false); }

  virtual void on_scheduler_entry(bool /*is_worker*/) {}
  virtual void on_scheduler_exit(bool /*is_worker*/) {}

  /// To stop waits until calls of this observer that are under way have ended: so not from such a call, which would
  /// wait for itself.
  void observe(bool state = true) {
    if (!state) {
      if (fj_detail::observers* const there = where_.exchange(nullptr)) there->remove(*this);
      keeps_.reset();
      return;
    }
    if (where_.load()) return;
    fj::detail::scheduler* const here = fj::detail::current_scheduler();
    fj::detail::scheduler* const wanted = arena_ ? arena_->execute(&fj::detail::current_scheduler)
                                          : here ? here
                                                 : &fj::detail::default_scheduler();
    if (arena_) keeps_ = arena_->own_;
    fj_detail::observers& all = fj_detail::observers::of(*wanted);
    where_.store(&all);
    all.add(*this);
    if (here == wanted) fj::detail::serve_here(all);
  }
  bool is_observing() const { return where_.load() != nullptr; }

 private:
  task_arena* const arena_ = nullptr;
  std::shared_ptr<fj::runtime> keeps_;  // no other arena gets it meanwhile
  std::atomic<fj_detail::observers*> where_{nullptr};
};

namespace fj_detail {

template <class Call>
void observers::call_each(numbers::iterator first, numbers::iterator last, std::unique_lock<std::mutex>& held,
                          Call call) {
  std::vector<task_scheduler_observer*> called;
  for (; first != last; ++first) {
    called.push_back(first->second);
    ++calls_[first->second];
  }
  for (task_scheduler_observer* const each : called) {
    held.unlock();
    call(*each);
    held.lock();
    --calls_[each];
    calls_end_.notify_all();
  }
}

inline void observers::call_new(std::uint64_t& seen, bool is_worker) noexcept {
  std::unique_lock held(mutex_);
  const auto first = active_.upper_bound(seen);
  seen = last_.load(std::memory_order_relaxed);
  call_each(first, active_.end(), held, [&](task_scheduler_observer& each) { each.on_scheduler_entry(is_worker); });
}

inline void observers::rests(std::uint64_t& seen, bool is_worker) noexcept {
  if (seen == 0) return;
  std::unique_lock held(mutex_);
  const auto last = active_.upper_bound(seen);
  seen = 0;
  call_each(active_.begin(), last, held, [&](task_scheduler_observer& each) { each.on_scheduler_exit(is_worker); });
}

}  // namespace fj_detail

}  // namespace tbb
