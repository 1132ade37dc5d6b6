// The requirements of the templates for deques, joins and parking on their Machine, the type that supplies atomics and fences.
#pragma once

#include <atomic>
#include <concepts>

namespace fj { inline namespace v0_2 { namespace detail {

/// `atomic<T>` is as std::atomic; `unset_atomic<T>` costs no store to make, and its first value is stored later. `mutex` is as
/// std::mutex. `fence` is sequentially consistent. `light_fence` and `heavy_fence` are the two sides of an asymmetric fence: if
/// one thread passes the light one and another the heavy one, at least one of them sees what the other stored before.
template <class Machine>
concept memory_machine = requires(typename Machine::template atomic<int> word,
                                  typename Machine::template unset_atomic<int> unset, typename Machine::mutex& mutex) {
  { word.load(std::memory_order_acquire) } -> std::same_as<int>;
  { word.exchange(1, std::memory_order_acq_rel) } -> std::same_as<int>;
  { word.fetch_add(1, std::memory_order_seq_cst) } -> std::same_as<int>;
  { unset.load(std::memory_order_relaxed) } -> std::same_as<int>;
  { mutex.try_lock() } -> std::same_as<bool>;
  mutex.lock();
  mutex.unlock();
  Machine::fence();
  Machine::light_fence();
  Machine::heavy_fence();
};

}}}  // namespace fj::v0_2::detail
