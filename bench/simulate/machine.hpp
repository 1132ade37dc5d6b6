// The machine of a simulation, in place of runtime/os/machine.hpp: one thread, so every access is plain memory. Time
// passes in the heavy fence, in pauses and sleeps, and while a worker waits for a mutex or for a cache line
// (lines.hpp).
#pragma once

#define FORKJOIN_MACHINE

#include <atomic>
#include <cstdint>
#include <utility>

#include "bench/simulate/timeline.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

template <class T>
class atomic {
 public:
  constexpr atomic() noexcept = default;
  constexpr atomic(T value) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order) const noexcept { return of(simulate::line_use::load); }
  void store(T value, std::memory_order) noexcept { of(simulate::line_use::store) = value; }
  T exchange(T value, std::memory_order) noexcept { return std::exchange(of(simulate::line_use::update), value); }
  T fetch_add(T value, std::memory_order) noexcept {
    T& now = of(simulate::line_use::update);
    return std::exchange(now, now + value);
  }
  T fetch_sub(T value, std::memory_order) noexcept {
    T& now = of(simulate::line_use::update);
    return std::exchange(now, now - value);
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order, std::memory_order = {}) noexcept {
    simulate::timeline::touch(&value_, simulate::line_use::update);
    if (value_ == expected) {
      value_ = value;
      return true;
    }
    expected = value_;
    return false;
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order) noexcept {
    return compare_exchange_strong(expected, value, order);
  }

 private:
  // When the worker has the line.
  const T& of(simulate::line_use how) const noexcept {
    simulate::timeline::touch(&value_, how);
    return value_;
  }
  T& of(simulate::line_use how) noexcept {
    simulate::timeline::touch(&value_, how);
    return value_;
  }

  T value_{};
};

template <class T>
using unset_atomic = atomic<T>;

/// A thief holds the mutexes of the deques whose records it forces while it passes the heavy fence.
class FORKJOIN_MUTEX mutex {
 public:
  [[nodiscard]] bool try_lock() noexcept FORKJOIN_TRIES(true) {
    simulate::timeline::touch(&locked_, simulate::line_use::update);
    return !std::exchange(locked_, true);
  }

  void lock() noexcept FORKJOIN_ACQUIRES() FORKJOIN_UNANALYSED {
    while (!try_lock()) {
      simulate::timeline& time = simulate::timeline::current();
      time.self().next = std::exchange(waiting_, &time.self());
      time.wait_for_mutex();
    }
  }

  void unlock() noexcept FORKJOIN_RELEASES() FORKJOIN_UNANALYSED {
    simulate::timeline::touch(&locked_, simulate::line_use::store);
    locked_ = false;
    while (waiting_) {
      simulate::timeline& time = simulate::timeline::current();
      simulate::actor& next = *std::exchange(waiting_, waiting_->next);
      time.resume(next, time.self().clock);
    }
  }

 private:
  bool locked_ = false;
  simulate::actor* waiting_ = nullptr;
};

inline void fence() noexcept {}
inline void light_fence() noexcept {}
inline void may_lose_turn() noexcept {}
inline void heavy_fence() noexcept {
  simulate::timeline& time = simulate::timeline::current();
  time.pass(time.price_of_heavy_fence());
}

inline std::int64_t now_ns() noexcept { return simulate::timeline::current().now_ns(); }
inline std::uint64_t rough_ns() noexcept { return static_cast<std::uint64_t>(now_ns()); }

inline void pause() noexcept {
  simulate::timeline& time = simulate::timeline::current();
  time.pass(time.price.round);
}

/// No other thread wants the processor.
inline void yield_thread() noexcept {}

inline void sleep_ns(std::int64_t time) noexcept { simulate::timeline::current().pass(1000 * time); }

}}}}  // namespace fj::v0_4::detail::os

#include "runtime/os/contract.hpp"

namespace fj { inline namespace v0_4 { namespace detail {
static_assert(machine_for_rules<os::atomic, os::mutex>);
}}}  // namespace fj::v0_4::detail
