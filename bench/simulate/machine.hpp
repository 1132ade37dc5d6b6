// The machine that the library's deque and joins run on in a simulation: one thread, so every access is plain memory. Time
// passes in the heavy fence, and while a worker waits for a mutex.
#pragma once

#include <atomic>
#include <utility>

#include "bench/simulate/timeline.hpp"
#include "runtime/os/thread_safety.hpp"

namespace simulate {

struct root;

/// Of the shape of fj::detail::machine (runtime/os/machine.hpp).
struct machine {
  using root = simulate::root;

  template <class T>
  class atomic {
   public:
    constexpr atomic() noexcept = default;
    constexpr atomic(T value) noexcept : value_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(std::memory_order) const noexcept { return value_; }
    void store(T value, std::memory_order) noexcept { value_ = value; }
    T exchange(T value, std::memory_order) noexcept { return std::exchange(value_, value); }
    T fetch_add(T value, std::memory_order) noexcept { return std::exchange(value_, value_ + value); }
    T fetch_sub(T value, std::memory_order) noexcept { return std::exchange(value_, value_ - value); }
    bool compare_exchange_strong(T& expected, T value, std::memory_order, std::memory_order = {}) noexcept {
      if (value_ == expected) {
        value_ = value;
        return true;
      }
      expected = value_;
      return false;
    }

   private:
    T value_{};
  };

  template <class T>
  using unset_atomic = atomic<T>;

  /// A thief holds the mutexes of the deques that it exposes while it passes the heavy fence.
  class FORKJOIN_MUTEX mutex {
   public:
    [[nodiscard]] bool try_lock() noexcept FORKJOIN_TRIES(true) { return !std::exchange(locked_, true); }

    void lock() noexcept FORKJOIN_ACQUIRES() FORKJOIN_UNANALYSED {
      while (!try_lock()) {
        timeline& time = timeline::current();
        time.self().next = std::exchange(waiting_, &time.self());
        time.wait();
      }
    }

    void unlock() noexcept FORKJOIN_RELEASES() FORKJOIN_UNANALYSED {
      locked_ = false;
      while (waiting_) {
        timeline& time = timeline::current();
        actor& next = *std::exchange(waiting_, waiting_->next);
        time.resume(next, time.self().clock);
      }
    }

   private:
    bool locked_ = false;
    actor* waiting_ = nullptr;
  };

  static void fence() noexcept {}
  static void light_fence() noexcept {}
  static void heavy_fence() noexcept {
    timeline& time = timeline::current();
    time.pass(time.price.membarrier);
  }
};

}  // namespace simulate
