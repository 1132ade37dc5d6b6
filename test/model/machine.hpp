// The machine of the model, of the same shape as fj::detail::machine: its memory returns every value that the orders
// asked for allow, and its threads are interleaved at every access.
//
// The heavy fence: membarrier makes every other running thread pass a sequentially consistent fence somewhere between
// the call and its return. So the caller leaves a request with each, and waits; each looks for requests before every
// access, and fences at one of these places, not necessarily the first. A thread that has ended has done its part.
#pragma once

#include <atomic>
#include <bit>

#include "test/model/relacy.hpp"

namespace fj { inline namespace v0_2 { namespace detail {
struct root;
}}}  // namespace fj::v0_2::detail

namespace model {

/// What Relacy does not know of: which thread owes a fence to whom. Seen by all at once, as the system's affairs are.
struct barriers {
  unsigned owed[threads] = {};  ///< a bit for each thread that waits for this one's fence
  bool ended[threads] = {};
};
inline barriers system_state;

inline void fence(const place& at = place::current()) { rl::atomic_thread_fence(rl::mo_seq_cst, debug(at)); }

/// Pays what this thread owes, now or later.
inline void before_access() {
  unsigned& owed = system_state.owed[rl::thread_index()];
  if (owed == 0 || any_of(2) == 0) return;
  const unsigned paid = owed;
  fence();
  owed &= ~paid;
}

/// Of a loop that waits.
inline void pause(const place& at = place::current()) {
  before_access();
  rl::ctx().yield(1, debug(at));
}

template <class Condition>
void wait_until(Condition condition) {
  while (!condition()) pause();
}

struct machine {
  using root = fj::detail::root;

  template <class T>
  class atomic {
   public:
    atomic() : value_(T{}) {}
    atomic(T value) : value_(value) {}

    T load(std::memory_order order, place at = place::current()) const {
      before_access();
      return value_.load(order_of(order), debug(at));
    }
    void store(T value, std::memory_order order, place at = place::current()) {
      before_access();
      value_.store(value, order_of(order), debug(at));
    }
    T exchange(T value, std::memory_order order, place at = place::current()) {
      before_access();
      return value_.rmw(rl::rmw_type_t<rl::rmw_type_swap>(), value, order_of(order), debug(at));
    }
    T fetch_add(T value, std::memory_order order, place at = place::current()) {
      before_access();
      return value_.fetch_add(value, order_of(order), debug(at));
    }
    T fetch_sub(T value, std::memory_order order, place at = place::current()) {
      before_access();
      return value_.fetch_sub(value, order_of(order), debug(at));
    }
    T fetch_or(T value, std::memory_order order, place at = place::current()) {
      before_access();
      return value_.fetch_or(value, order_of(order), debug(at));
    }
    T fetch_and(T value, std::memory_order order, place at = place::current()) {
      before_access();
      return value_.fetch_and(value, order_of(order), debug(at));
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order order, place at = place::current()) {
      before_access();
      return value_.compare_exchange_strong(expected, value, order_of(order), debug(at));
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order order, place at = place::current()) {
      before_access();
      return value_.compare_exchange(rl::bool_t<true>(), expected, value, order_of(order), debug(at));
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order order, std::memory_order failed,
                               place at = place::current()) {
      before_access();
      return value_.compare_exchange(rl::bool_t<true>(), expected, value, order_of(order), order_of(failed), debug(at));
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order order, std::memory_order failed,
                                 place at = place::current()) {
      before_access();
      return value_.compare_exchange(rl::bool_t<false>(), expected, value, order_of(order), order_of(failed),
                                     debug(at));
    }

   private:
    static constexpr rl::memory_order order_of(std::memory_order order) {
      switch (order) {
        case std::memory_order_relaxed:
          return rl::mo_relaxed;
        case std::memory_order_consume:
          return rl::mo_consume;
        case std::memory_order_acquire:
          return rl::mo_acquire;
        case std::memory_order_release:
          return rl::mo_release;
        case std::memory_order_acq_rel:
          return rl::mo_acq_rel;
        default:
          return rl::mo_seq_cst;
      }
    }

    rl::atomic<T> value_;
  };

  template <class T>
  using unset_atomic = atomic<T>;

  /// Not Relacy's: that one would hold back a thread that owes a fence to the holder.
  class mutex {
   public:
    bool try_lock() {
      int free = 0;
      return word_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
    }
    void lock() {
      while (!try_lock()) pause();
    }
    void unlock() { word_.exchange(0, std::memory_order_release); }

   private:
    atomic<int> word_{0};
  };

  static void fence() {
    before_access();
    model::fence();
  }

  static void light_fence() {}

  static void heavy_fence() {
    const unsigned me = rl::thread_index();
    fence();
    for (unsigned i = 0; i < threads; ++i)
      if (i != me) system_state.owed[i] |= 1u << me;
    for (unsigned i = 0; i < threads; ++i)
      wait_until([&] { return i == me || system_state.ended[i] || !(system_state.owed[i] & 1u << me); });
    model::fence();
  }
};

}  // namespace model
