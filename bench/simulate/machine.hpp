// The machine that the library's deque and parking run on in a simulation: one thread, so every access is plain memory
// and every fence nothing. What happens at which time is the simulator's business (simulator.hpp).
#pragma once

#include <atomic>
#include <utility>

namespace fj::inline v0_1::detail {
struct root;
}

namespace simulate {

/// Of the shape of fj::detail::machine (runtime/os/machine.hpp).
struct machine {
  using root = fj::detail::root;

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

  /// Held across simulated time by a thief that exposes records; the simulator keeps everybody else from locking it then.
  class mutex {
   public:
    [[nodiscard]] bool try_lock() noexcept { return !std::exchange(locked_, true); }
    void lock() noexcept { locked_ = true; }
    void unlock() noexcept { locked_ = false; }

   private:
    bool locked_ = false;
  };

  static void fence() noexcept {}
  static void light_fence() noexcept {}
  static void heavy_fence() noexcept {}
};

}  // namespace simulate
