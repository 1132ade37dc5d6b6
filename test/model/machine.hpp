// The machine of the model, in place of runtime/os/machine.hpp: its memory returns every value that the orders asked
// for allow, and its threads are interleaved at every access.
//
// The heavy fence: membarrier makes every other running thread pass a sequentially consistent fence somewhere between
// the call and its return. So the caller leaves a request with each, and waits; each looks for requests before every
// access, and fences at one of these places, not necessarily the first. A thread that has ended has done its part.
#pragma once

#define FORKJOIN_MACHINE

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "test/model/relacy.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {
template <class T>
class atomic;
}}}}  // namespace fj::v0_4::detail::os

namespace model {

/// What a scenario has of its own: its clock, and how its threads wait.
class surroundings {
 public:
  surroundings() {
    here = this;
    for (auto& each : interrupts_) each.store(0, rl::mo_relaxed, debug(place::current()));
  }
  virtual ~surroundings() = default;

  virtual std::int64_t now_ns();
  virtual void yield_thread();
  virtual void futex_wait(fj::detail::os::atomic<std::uint32_t>& word, std::uint32_t expected) {}
  /// False: the time has come.
  virtual bool futex_wait_for_a_while(fj::detail::os::atomic<std::uint32_t>& word, std::uint32_t expected) {
    return true;
  }
  virtual void futex_wake() {}

  /// An access to an atomic.
  virtual void touch(const void*) {}

  /// To whom an interrupt comes, it brings what its sender did before; but that is no fence.
  void send_interrupt(int to) { interrupts_[to].fetch_add(1, rl::mo_release, debug(place::current())); }
  void receive_interrupt(int me) { interrupts_[me].fetch_add(1, rl::mo_acquire, debug(place::current())); }

  static inline surroundings* here = nullptr;

 private:
  rl::atomic<int> interrupts_[threads];
};

/// What Relacy does not know of: which thread owes a fence to whom. Seen by all at once, as the system's affairs are.
struct barriers {
  unsigned owed[threads] = {};  ///< a bit for each thread that waits for this one's fence
  bool ended[threads] = {};
};
inline barriers system_state;

/// What interrupts a thread: before one of its accesses, and only while it says how it answers.
struct interrupts {
  bool pending = false, answering = false;
  void (*answer)(void*) = nullptr;
  void* argument = nullptr;
};
inline interrupts interrupted[threads];

inline void fence(const place& at = place::current()) { rl::atomic_thread_fence(rl::mo_seq_cst, debug(at)); }

/// Pays what this thread owes, now or later.
inline void before_access(const void* at) {
  if (at) surroundings::here->touch(at);
  if (interrupts& mine = interrupted[rl::thread_index()]; mine.pending && !mine.answering && any_of(2) != 0) {
    mine.pending = false;
    mine.answering = true;
    surroundings::here->receive_interrupt(static_cast<int>(rl::thread_index()));
    if (mine.answer) mine.answer(mine.argument);
    mine.answering = false;
  }
  unsigned& owed = system_state.owed[rl::thread_index()];
  if (owed == 0 || any_of(2) == 0) return;
  const unsigned paid = owed;
  fence();
  owed &= ~paid;
}

/// Of a loop that waits.
inline void pause(const place& at = place::current()) {
  before_access(nullptr);
  rl::ctx().yield(1, debug(at));
}

inline std::int64_t surroundings::now_ns() { return any_of(2); }
inline void surroundings::yield_thread() { pause(); }

template <class Condition>
void wait_until(Condition condition) {
  while (!condition()) pause();
}

}  // namespace model

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

template <class T>
class atomic {
 public:
  // constexpr as std::atomic's, for constructors that are; used at run time only.
  constexpr atomic() : atomic(T{}) {}
  constexpr atomic(T value) {
    if (!std::is_constant_evaluated()) std::construct_at(&value_, value);
  }
  constexpr ~atomic() {
    if (!std::is_constant_evaluated()) std::destroy_at(&value_);
  }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order order, model::place at = model::place::current()) const {
    model::before_access(this);
    return value_.load(order_of(order), model::debug(at));
  }
  void store(T value, std::memory_order order, model::place at = model::place::current()) {
    model::before_access(this);
    value_.store(value, order_of(order), model::debug(at));
  }
  T exchange(T value, std::memory_order order, model::place at = model::place::current()) {
    model::before_access(this);
    return value_.rmw(::rl::rmw_type_t<::rl::rmw_type_swap>(), value, order_of(order), model::debug(at));
  }
  T fetch_add(T value, std::memory_order order, model::place at = model::place::current()) {
    model::before_access(this);
    return value_.fetch_add(value, order_of(order), model::debug(at));
  }
  T fetch_sub(T value, std::memory_order order, model::place at = model::place::current()) {
    model::before_access(this);
    return value_.fetch_sub(value, order_of(order), model::debug(at));
  }
  T fetch_or(T value, std::memory_order order, model::place at = model::place::current()) {
    model::before_access(this);
    return value_.fetch_or(value, order_of(order), model::debug(at));
  }
  T fetch_and(T value, std::memory_order order, model::place at = model::place::current()) {
    model::before_access(this);
    return value_.fetch_and(value, order_of(order), model::debug(at));
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order order,
                               model::place at = model::place::current()) {
    model::before_access(this);
    return value_.compare_exchange_strong(expected, value, order_of(order), model::debug(at));
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order, model::place at = model::place::current()) {
    model::before_access(this);
    return value_.compare_exchange(::rl::bool_t<true>(), expected, value, order_of(order), model::debug(at));
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order, std::memory_order failed,
                             model::place at = model::place::current()) {
    model::before_access(this);
    return value_.compare_exchange(::rl::bool_t<true>(), expected, value, order_of(order), order_of(failed),
                                   model::debug(at));
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order order, std::memory_order failed,
                               model::place at = model::place::current()) {
    model::before_access(this);
    return value_.compare_exchange(::rl::bool_t<false>(), expected, value, order_of(order), order_of(failed),
                                   model::debug(at));
  }

 private:
  static constexpr ::rl::memory_order order_of(std::memory_order order) {
    switch (order) {
      case std::memory_order_relaxed:
        return ::rl::mo_relaxed;
      case std::memory_order_consume:
        return ::rl::mo_consume;
      case std::memory_order_acquire:
        return ::rl::mo_acquire;
      case std::memory_order_release:
        return ::rl::mo_release;
      case std::memory_order_acq_rel:
        return ::rl::mo_acq_rel;
      default:
        return ::rl::mo_seq_cst;
    }
  }

  union {
    ::rl::atomic<T> value_;
  };
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
    while (!try_lock()) model::pause();
  }
  void unlock() { word_.exchange(0, std::memory_order_release); }

 private:
  atomic<int> word_{0};
};

inline void fence() {
  model::before_access(nullptr);
  model::fence();
}

inline void light_fence() {}
inline void may_lose_turn() {}

inline void heavy_fence() {
  const unsigned me = ::rl::thread_index();
  fence();
  for (unsigned i = 0; i < model::threads; ++i)
    if (i != me) model::system_state.owed[i] |= 1u << me;
  for (unsigned i = 0; i < model::threads; ++i)
    model::wait_until(
        [&] { return i == me || model::system_state.ended[i] || !(model::system_state.owed[i] & 1u << me); });
  model::fence();
}

inline void on_interrupt(void (*answer)(void*), void* argument) {
  model::before_access(nullptr);
  auto& mine = model::interrupted[::rl::thread_index()];
  mine.answer = answer;
  mine.argument = argument;
}
inline void interrupt(int thread) {
  model::before_access(nullptr);
  model::surroundings::here->send_interrupt(thread);
  model::interrupted[thread].pending = true;
}
inline bool blocks_interrupts() { return false; }
inline int this_thread() { return static_cast<int>(::rl::thread_index()); }

inline void pause() { model::pause(); }
inline void sleep_ns(std::int64_t) { model::pause(); }
inline std::int64_t now_ns() { return model::surroundings::here->now_ns(); }
inline std::uint64_t rough_ns() { return static_cast<std::uint64_t>(now_ns()); }
inline void yield_thread() { model::surroundings::here->yield_thread(); }
inline void futex_wait(atomic<std::uint32_t>& word, std::uint32_t expected) {
  model::surroundings::here->futex_wait(word, expected);
}
inline bool futex_wait_until(atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t) {
  return model::surroundings::here->futex_wait_for_a_while(word, expected);
}
inline void futex_wake(atomic<std::uint32_t>&) { model::surroundings::here->futex_wake(); }

}}}}  // namespace fj::v0_4::detail::os

#include "runtime/os/contract.hpp"

namespace fj { inline namespace v0_4 { namespace detail {
static_assert(machine_for_rules<os::atomic, os::mutex>);
}}}  // namespace fj::v0_4::detail

namespace model {
namespace os = fj::detail::os;
}
