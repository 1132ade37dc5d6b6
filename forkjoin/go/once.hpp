// A function that several strands call, and that runs only once.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

#include "forkjoin/go/mutex.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_4 {

/// As std::once_flag with std::call_once. A strand that comes while another runs the function waits, and its worker
/// does other work.
class once {
 public:
  once() noexcept = default;
  once(const once&) = delete;
  once& operator=(const once&) = delete;

  /// Calls f() if no call has returned yet. Returns after the first call has returned. If f throws, the next caller
  /// calls its own f. A caller that waits for the call of another strand throws as mutex::lock does. f must not call
  /// this function of the same object, as it would wait for itself. Cost once a call has returned: a load.
  template <class F>
  void call(F&& f, wait_options options = {}) {
    if (done_.load(std::memory_order_acquire)) return detail::maybe_yield();  // acquire: pairs with the release below
    mutex_.lock(options);
    const std::unique_lock lock(mutex_, std::adopt_lock);
    if (done_.load(std::memory_order_relaxed)) return;
    static_cast<void>(std::invoke(std::forward<F>(f)));
    done_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> done_{false};
  mutex mutex_;
};

}}  // namespace fj::v0_4
