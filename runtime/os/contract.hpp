// What a machine must offer to the rules and protocols that are compiled for it: the library's (machine.hpp), the
// models' (test/model/machine.hpp) and the simulator's (bench/simulate/machine.hpp). To be included after that.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

template <class Atomic, class T>
concept atomic_of = requires(Atomic& a, const Atomic& read, T& expected, T value, std::memory_order order) {
  { read.load(order) } -> std::same_as<T>;
  { a.store(value, order) } -> std::same_as<void>;
  { a.exchange(value, order) } -> std::same_as<T>;
  { a.compare_exchange_strong(expected, value, order, order) } -> std::same_as<bool>;
  { a.compare_exchange_weak(expected, value, order) } -> std::same_as<bool>;
};

template <class Atomic, class T>
concept counter_of = atomic_of<Atomic, T> && requires(Atomic& a, T value, std::memory_order order) {
  { a.fetch_add(value, order) } -> std::same_as<T>;
  { a.fetch_sub(value, order) } -> std::same_as<T>;
};

/// BasicLockable, and a try that fails only if another thread holds it.
template <class Mutex>
concept thread_mutex = requires(Mutex& m) {
  m.lock();
  m.unlock();
  { m.try_lock() } -> std::same_as<bool>;
};

/// Memory, fences and a clock, for the rules of the scheduler.
template <template <class> class Atomic, class Mutex>
concept machine_for_rules =
    atomic_of<Atomic<bool>, bool> && atomic_of<Atomic<void*>, void*> &&
    counter_of<Atomic<std::uint32_t>, std::uint32_t> && counter_of<Atomic<std::uint64_t>, std::uint64_t> &&
    thread_mutex<Mutex> && requires(std::int64_t time) {
      os::fence();        // sequentially consistent
      os::heavy_fence();  // the expensive half of an asymmetric fence,
      os::light_fence();  // and the cheap one
      os::may_lose_turn();
      os::pause();
      os::yield_thread();
      os::sleep_ns(time);
      { os::now_ns() } -> std::same_as<std::int64_t>;
      { os::rough_ns() } -> std::same_as<std::uint64_t>;
    };

}}}  // namespace fj::v0_4::detail
