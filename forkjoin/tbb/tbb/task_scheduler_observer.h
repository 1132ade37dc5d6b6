// Observers: a thread says so when it begins to run code of a runtime, and when it stops to.
#pragma once

#include "detail/left_out.h"
#include "detail/runtime.h"
#include "task_arena.h"

#include <forkjoin/abi/thread_hooks.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
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
  /// From outside of its calls, waits until none is under way. Apart from a strand's code, as that may have asked for
  /// its thread's id on another thread.
  [[gnu::noinline]] void remove(task_scheduler_observer& one) {
    std::unique_lock held(mutex_);
    std::erase_if(active_, [&](const auto& each) { return each.second == &one; });
    if (std::ranges::find(calls_, call{&one, std::this_thread::get_id()}) != calls_.end()) return;
    call_ends_.wait(held, [&] { return std::ranges::find(calls_, &one, &call::of) == calls_.end(); });
  }

  void serves(fj::detail::relaxed<std::uint64_t>& seen, bool is_worker) noexcept override {
    if (seen != last_.load(std::memory_order_acquire)) call_new(seen, is_worker);
  }
  void rests(fj::detail::relaxed<std::uint64_t>& seen, bool is_worker) noexcept override;

 private:
  struct call {
    task_scheduler_observer* of;
    std::thread::id by;
    bool operator==(const call&) const = default;
  };

  void call_new(fj::detail::relaxed<std::uint64_t>& seen, bool is_worker) noexcept;
  /// Calls tell for those numbered above `after`, up to `last`.
  template <class Tell>
  void call_each(std::uint64_t after, std::uint64_t last, std::unique_lock<std::mutex>& held, Tell tell);

  std::mutex mutex_;
  std::condition_variable call_ends_;
  std::atomic<std::uint64_t> last_{0};
  std::map<std::uint64_t, task_scheduler_observer*> active_;
  std::vector<call> calls_;  // under way
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

  /// To stop waits until the calls of this observer that are under way have ended. A call of the observer itself may
  /// stop it, too, and waits for no other; so what destroys the observer stops it once more, from outside of its calls.
  void observe(bool state = true) {
    if (!state) return stop();
    if (is_observing()) return;
    stop();  // a call that has stopped it may be under way
    fj::detail::scheduler* const here = fj::detail::current_scheduler();
    fj::detail::scheduler* const wanted = arena_ ? arena_->execute(&fj::detail::current_scheduler)
                                          : here ? here
                                                 : &fj::detail::default_scheduler();
    if (arena_) keeps_ = arena_->own_;
    fj_detail::observers& all = fj_detail::observers::of(*wanted);
    where_.store(&all);
    observes_.store(true);
    all.add(*this);
    if (here == wanted) fj::detail::serve_here(all);
  }
  bool is_observing() const { return observes_.load(); }

 private:
  void stop() {
    const bool observed = observes_.exchange(false);
    if (fj_detail::observers* const there = where_.load()) there->remove(*this);
    if (observed) keeps_.reset();
  }

  task_arena* const arena_ = nullptr;
  std::shared_ptr<fj::runtime> keeps_;                 // no other arena gets it meanwhile
  std::atomic<fj_detail::observers*> where_{nullptr};  // it observes, or has observed last
  std::atomic<bool> observes_{false};
};

namespace fj_detail {

template <class Tell>
void observers::call_each(std::uint64_t after, std::uint64_t last, std::unique_lock<std::mutex>& held, Tell tell) {
  // Looks again after each call, which may add and remove observers.
  for (auto next = active_.upper_bound(after); next != active_.end() && next->first <= last;
       next = active_.upper_bound(after)) {
    after = next->first;
    task_scheduler_observer& one = *next->second;
    const call here{&one, std::this_thread::get_id()};
    calls_.push_back(here);
    held.unlock();
    tell(one);
    held.lock();
    calls_.erase(std::ranges::find(calls_, here));
    call_ends_.notify_all();
  }
}

inline void observers::call_new(fj::detail::relaxed<std::uint64_t>& seen, bool is_worker) noexcept {
  std::unique_lock held(mutex_);
  const std::uint64_t before = seen.replace(last_.load(std::memory_order_relaxed));
  call_each(before, seen, held, [&](task_scheduler_observer& each) { each.on_scheduler_entry(is_worker); });
}

inline void observers::rests(fj::detail::relaxed<std::uint64_t>& seen, bool is_worker) noexcept {
  if (seen == 0) return;
  std::unique_lock held(mutex_);
  call_each(0, seen.replace(0), held, [&](task_scheduler_observer& each) { each.on_scheduler_exit(is_worker); });
}

}  // namespace fj_detail

}  // namespace tbb
