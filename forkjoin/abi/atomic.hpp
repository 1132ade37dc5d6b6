// Atomics and fences of the machine that the protocols between programs and the library run on. The model checks and
// the simulator have a machine of their own in place of this file: runtime/os/machine.hpp.
#pragma once

#ifndef FORKJOIN_MACHINE

#include <atomic>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

template <class T>
using atomic = std::atomic<T>;

/// An atomic that costs no store to make; its first value is stored later.
template <class T>
class unset_atomic {
 public:
  unset_atomic() noexcept {}

  T load(std::memory_order order) const noexcept { return value_.load(order); }
  void store(T value, std::memory_order order) noexcept { value_.store(value, order); }

 private:
  union {
    std::atomic<T> value_;
  };
};

/// The cheap half of an asymmetric fence: if one thread passes this one and another the heavy one
/// (runtime/os/machine.hpp: heavy_fence), at least one of them sees what the other stored before. Keeps the compiler
/// from reordering, costs no instruction.
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

}}}}  // namespace fj::v0_4::detail::os

#endif
