// What stands around deque and parking in the runtime, retold on the model's machine: the slow path of an owner
// (fork_slow.cpp) and how workers look for work, park and wake each other (scheduler.cpp, find_work.cpp, thread_main.cpp).
// The names are the same; a change there belongs here as well.
#pragma once

#include <mutex>
#include <utility>

#include "runtime/schedule/parking.hpp"
#include "test/model/deque.hpp"
#include "test/model/scenario.hpp"

namespace model {

using fj::detail::continuation;
using fj::detail::root;
using parking = fj::detail::basic_parking<machine>;

// The owner

template <class Hungry, class Wake>
void push_slow(deque& d, root* job, bool eager, Hungry hungry, Wake wake) {
  d.attend();
  const bool asked = eager || hungry();
  if (!asked && (d.has_public() || any_of(2))) return;  // or there is no room: nobody may rely on it
  d.publish();
  if (asked) wake();
}

template <class Hungry>
bool pop_slow(deque& d, const deque::record& r, Hungry hungry) {
  if (!d.pop_slow(r)) return false;
  if (hungry()) d.alarm();
  return true;
}

// Thieves

inline void expose(deque& d, machine::mutex& exposing) {
  if (!exposing.try_lock()) return;
  if (d.expose_begin()) {
    machine::heavy_fence();
    d.expose_end();
  }
  exposing.unlock();
}

struct worker {
  plain<bool> held{false};  // its P
  plain<bool> spinning{false};
  machine::atomic<int> signalled{0};
  bool sleeps = false, woken = false;  // as anybody outside of the model can see

  void signal() {
    signalled.store(1, std::memory_order_release);
    woken = true;
  }
};

enum class after_park { work, sleep };

/// What a worker found.
struct loot {
  continuation* record = nullptr;
  bool ready = false;  // a fiber that somebody made runnable

  explicit operator bool() const { return record || ready; }
};

/// Of a runtime with one deque that is in use and none that is detached.
class scheduler {
 public:
  scheduler(int procs, deque& records, bool eager) : procs_(procs), records_(records), eager_(eager) {}

  parking& idleness() { return parking_; }

  // To begin with.

  void starts_working(worker& m) { m.held = true; }
  void starts_spinning(worker& m) {
    m.held = true;
    start_spinning(m);
  }
  void starts_asleep(worker& m) {
    put_idle();
    add_idle_thread(m);
  }
  void starts_idle() { put_idle(); }

  // What threads do.

  /// One fiber more is runnable.
  void ready() {
    {
      std::scoped_lock guard(mutex_);
      ready_ = ready_ + 1;
      ready_count_.fetch_add(1, std::memory_order_seq_cst);
    }
    wake();
  }

  void wake() {
    while (parking_.begin_waking()) {
      worker* woken = nullptr;
      {
        std::scoped_lock guard(mutex_);
        if (take_idle()) {
          woken = take_thread();
          if (woken) {
            woken->spinning = true;
            woken->held = true;
          } else {
            put_idle();
          }
        }
      }
      if (woken) {
        woken->signal();
        return;
      }
      parking_.stop_spinning();
      std::scoped_lock guard(mutex_);
      if (idle_threads_ == 0) return;
    }
  }

  after_park park(worker& m) {
    bool was_spinning = false;
    {
      std::scoped_lock guard(mutex_);
      if (ready_ != 0) return after_park::work;
      if (m.held) {
        m.held = false;
        put_idle();
      }
      was_spinning = m.spinning;
      m.spinning = false;
      add_idle_thread(m);
    }
    if (was_spinning) parking_.stop_spinning();
    if (!work_left()) return after_park::sleep;
    std::scoped_lock guard(mutex_);
    if (m.held || idle_processors_ == 0) return after_park::sleep;
    m.held = take_idle();
    remove_idle_thread(m);
    m.spinning = true;
    parking_.start_spinning();
    return after_park::work;
  }

  bool enter(worker& m) {
    std::scoped_lock guard(mutex_);
    m.held = take_idle();
    return m.held;
  }

  void hand_over(worker& m) {
    {
      std::scoped_lock guard(mutex_);
      m.held = false;
      put_idle();
    }
    const bool was_spinning = m.spinning;
    m.spinning = false;
    if (was_spinning) parking_.stop_spinning();
    if (parking_.should_wake() && work_left()) wake();
  }

  loot find_work(worker& m) {
    loot found{.ready = take_ready()};
    if (!found && !m.spinning && parking_.may_spin(procs_)) start_spinning(m);
    if (!found && m.spinning) found = search();
    if (found && m.spinning) {
      m.spinning = false;
      parking_.stop_spinning();
      wake();
    }
    return found;
  }

  /// What nobody took.
  int still_ready() const { return ready_; }

 private:
  void start_spinning(worker& m) {
    m.spinning = true;
    parking_.start_spinning();
  }

  loot search() {
    for (;;) {
      if (take_ready()) return {.ready = true};
      bool seen = true;
      if (records_.has_public()) {
        if (deque::record* const taken = records_.steal(nullptr).record) {
          if (!records_.has_public() && !records_.looks_empty()) records_.alarm();
          return {.record = static_cast<continuation*>(taken)};
        }
      } else {
        seen = !records_.looks_empty();
        if (!records_.alarmed()) records_.alarm();
      }
      if (!seen && any_of(2)) return {};
      if (seen && any_of(2)) expose(records_, exposing_);
      pause();
    }
  }

  bool any_ready() const { return ready_count_.load(std::memory_order_seq_cst) != 0; }

  bool take_ready() {
    if (!any_ready()) return false;
    std::scoped_lock guard(mutex_);
    if (ready_ == 0) return false;
    ready_ = ready_ - 1;
    ready_count_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

  bool work_left() {
    if (any_ready()) return true;
    if (parking_.idle() == procs_) return false;
    return !parking::nothing_left([this](auto visit) { visit(records_); }, eager_);
  }

  // With the mutex held.

  bool take_idle() {
    if (idle_processors_ == 0) return false;
    idle_processors_ = idle_processors_ - 1;
    parking_.processor_taken();
    return true;
  }

  void put_idle() {
    idle_processors_ = idle_processors_ + 1;
    parking_.processor_idle();
  }

  worker* take_thread() {
    if (idle_threads_ == 0) return nullptr;
    worker* const m = idle_thread_[idle_threads_ - 1];
    remove_idle_thread(*m);
    return m;
  }

  void add_idle_thread(worker& m) {
    idle_thread_[idle_threads_++] = &m;
    parking_.thread_available();
  }

  void remove_idle_thread(worker& m) {
    unsigned at = 0;
    while (idle_thread_[at] != &m) ++at;
    idle_thread_[at] = idle_thread_[--idle_threads_];
    parking_.thread_taken();
  }

  const int procs_;
  deque& records_;
  const bool eager_;
  parking parking_;
  machine::mutex exposing_;
  machine::mutex mutex_;
  plain<int> ready_{0};
  machine::atomic<int> ready_count_{0};
  plain<int> idle_processors_{0};
  worker* idle_thread_[threads] = {};
  unsigned idle_threads_ = 0;
};

}  // namespace model
