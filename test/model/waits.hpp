// Waits of the model's threads, in place of runtime/wait/hooks.hpp. A thread stays on its stack while it waits, also
// if it waits as a strand does.
#pragma once

#include <cstdint>
#include <stop_token>

#include "test/model/scenario.hpp"

#include "forkjoin/abi/os/thread_safety.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "runtime/sched/timer_heap.hpp"
#include "runtime/wait/hooks.hpp"

namespace model {

using fj::detail::wait_end;
using fj::detail::wait_limits;

/// A limit that may end a wait at any time, and ends it if nothing else does.
inline constexpr wait_limits soon = {.until = 1};

/// Known outside of the model's memory, so true at once.
struct thread_in_wait {
  const bool* may_end = nullptr;  ///< of the wait that the thread is in
};

using fj::detail::timer_heap;

/// Whoever may ask the strands of a scenario to stop.
class stop_source {
 public:
  struct callback {
    virtual void call() = 0;
  };

  // As std::stop_source and std::stop_callback: a callback that has begun returns before its wait goes on.
  void request_stop() {
    const fj::detail::locked lock(mutex_);
    asked_ = 1;
    if (callback_) callback_->call();
  }
  void add(callback& c) {
    const fj::detail::locked lock(mutex_);
    callback_ = &c;
    if (asked_.get()) c.call();
  }
  void remove() {
    const fj::detail::locked lock(mutex_);
    callback_ = nullptr;
  }

 private:
  os::mutex mutex_;
  plain<int> asked_{0};
  callback* callback_ = nullptr;  // with the mutex
};

inline const std::stop_token any_token;

}  // namespace model

namespace fj { inline namespace v0_4 { namespace detail {

/// A strand, which keeps its thread of the model.
struct fiber {
  model::plain<int> context{0};  ///< 1: saved
  os::atomic<int> resumed{0};    ///< as the ready queue
};

struct worker {};

/// What strands wait with.
class scheduler {
 public:
  fiber all[model::threads];
  timer_heap timers;
  model::stop_source stops;
};

}}}  // namespace fj::v0_4::detail

namespace model {

using fj::detail::fiber;
using fj::detail::scheduler;
using fj::detail::worker;

class waits_scenario : public scenario {
 public:
  /// Threads wait as those outside do, unless there are strands.
  explicit waits_scenario(scheduler* s = nullptr) : strands(s) { here = this; }

  thread_in_wait in_wait[threads];
  scheduler* const strands;
  static inline waits_scenario* here = nullptr;

  /// Of a loop that waits: each thread has ended, or waits for what another would do, only if another has ended this
  /// wait.
  void wait_a_little() const {
    bool still = true;
    for (unsigned i = 0; i < threads; ++i)
      if (!system_state.ended[i] && (!in_wait[i].may_end || *in_wait[i].may_end)) still = false;
    check(!still, "a wait ends that another thread could end");
    pause();
  }

  void yield_thread() override { wait_a_little(); }
  void futex_wait(os::atomic<std::uint32_t>&, std::uint32_t) override { wait_a_little(); }
  bool futex_wait_for_a_while(os::atomic<std::uint32_t>&, std::uint32_t) override {
    if (any_of(2)) return false;
    wait_a_little();
    return true;
  }
};

}  // namespace model

namespace fj { inline namespace v0_4 { namespace detail {

struct wait_hooks {
  struct outside_for_more {
    outside_for_more() {}
  };

  template <class F>
  class stop_callback : model::stop_source::callback {
   public:
    stop_callback(const std::stop_token&, F f) : f_(f) { here().strands->stops.add(*this); }
    ~stop_callback() { here().strands->stops.remove(); }
    void call() override { f_(); }

   private:
    F f_;
  };

  static scheduler* prepare_to_wait(std::int64_t until) {
    scheduler* const of = here().strands;
    if (of && until != never) of->timers.make_room();
    return of;
  }
  static bool prepare_again(std::int64_t until) {
    if (until != never) here().strands->timers.make_room();
    return model::any_of(4) != 0;
  }
  static timer_heap& arm(timer& t) {
    here().strands->timers.arm(t);
    return here().strands->timers;
  }
  static void suspend(scheduler& of, const wait_place&, fiber* (*then)(worker&, fiber&, void*) noexcept,
                      void* argument) {
    fiber& f = of.all[rl::thread_index()];
    worker m;
    f.context = 1;
    if (!then(m, f, argument))
      while (f.resumed.load(std::memory_order_acquire) == 0) here().wait_a_little();
    f.resumed.store(0, std::memory_order_relaxed);
    f.context = 0;
  }
  static void resume(scheduler&, fiber& f, precedence) {
    model::check(f.context.get() == 1, "the context was saved");
    f.resumed.store(1, std::memory_order_release);
  }
  static void come_after_stop() {}
  static void sleep_for_good(os::atomic<std::uint32_t>& word, const wait_place&) {
    while (word.load(std::memory_order_acquire) == 0) os::futex_wait(word, 0);
  }
  static unsigned random_below(unsigned limit) { return model::any_of(limit); }

 private:
  static model::waits_scenario& here() { return *model::waits_scenario::here; }
};

static_assert(machine_for_waits<os::atomic, os::mutex>);
static_assert(hooks_for_waits<wait_hooks>);

/// The real waiter, and what the model knows of it.
class waiter final : public waiter_base {
 public:
  explicit waiter(const wait_limits& limits)
      : waiter_base(limits), may_end_(!model::waits_scenario::here->strands && limits.until != never) {
    if (model::waits_scenario::here->strands) set_aside_again();
  }
  ~waiter() { frame_ = 0; }

  bool claim(unsigned by) {
    model::check(frame_.get() == 1, "the frame of the wait is there");
    return waiter_base::claim(by);
  }

  void wake(precedence its = precedence::in_order) noexcept override {
    model::check(frame_.get() == 1, "the frame of the wait is there");
    waiter_base::wake(its);
    may_end_ = true;  // no other thread has done anything since
  }

  unsigned wait() {
    waits_ = {&may_end_};
    const unsigned by = waiter_base::wait();
    waits_ = {};
    return by;
  }

 private:
  bool claim_wait() noexcept override { return claim(timed_out); }

  bool may_end_;
  model::plain<int> frame_{1};
  model::thread_in_wait& waits_ = model::waits_scenario::here->in_wait[rl::thread_index()];
};

}}}  // namespace fj::v0_4::detail

#include "runtime/wait/wait_queue.cpp"
#include "runtime/wait/waiter.cpp"

namespace model {

using fj::detail::waiter;

/// What is sent: a move leaves 0 behind.
struct parcel {
  explicit parcel(int n) : number(n) {}
  parcel(parcel&& other) noexcept : number(other.number.get()) { other.number = 0; }

  plain<int> number;
};

/// What was sent and what came of it. Known outside of the model's memory.
class parcels {
 public:
  void sent(int n, const parcel& left) {
    check(left.number == 0, "a value that was sent is the receiver's");
    check(sent_[n]++ == 0, "no value is sent twice");
  }
  static void kept(int n, const parcel& left) { check(left.number == n, "a value that was not sent is there still"); }

  /// Returns its number.
  int received(const parcel& p) {
    const int n = p.number;
    check(n > 0 && n < most, "what is received has been sent");
    check(received_[n]++ == 0, "no value is received twice");
    return n;
  }

  void check_all() const {
    for (int n = 1; n < most; ++n) check(sent_[n] == received_[n], "what was sent is received, and nothing else");
  }

 private:
  static constexpr int most = 8;
  int sent_[most] = {}, received_[most] = {};
};

}  // namespace model
