// Waits of the model's threads: the machine on which the templates of runtime/sync run. A thread stays on its stack while it waits, as
// one does that is outside of any runtime.
#pragma once

#include <cstdint>

#include "runtime/sync/machine.hpp"
#include "runtime/sync/wait_word.hpp"
#include "test/model/scenario.hpp"

namespace model {

using fj::detail::wait_end;
using fj::detail::wait_limits;

/// A limit that may end a wait at any time, and ends it if nothing else does.
inline constexpr wait_limits soon = {.until = 1};

/// Known outside of the model's memory, so true at once.
struct thread_in_wait {
  bool waits = false, may_end = false;
};

class waits_scenario : public scenario {
 public:
  waits_scenario() { here = this; }

  thread_in_wait in_wait[threads];
  static inline waits_scenario* here = nullptr;

  /// Whether each thread has ended, or waits for what another would do.
  bool is_still() const {
    for (unsigned i = 0; i < threads; ++i)
      if (!system_state.ended[i] && (!in_wait[i].waits || in_wait[i].may_end)) return false;
    return true;
  }
};

/// As fj::detail::waiter.
class waiter {
 public:
  explicit waiter(const wait_limits& limits) : limited_(limits.until != fj::detail::never) {}

  bool claim(unsigned by) { return word_.claim(by); }

  void wake() {
    thread_in_wait& waits = waits_;
    check(!word_.wake(), "no strand has suspended");
    waits.may_end = true;
  }

  unsigned wait() {
    waits_ = {.waits = true, .may_end = limited_ || waits_.may_end};
    for (bool limited = limited_; !word_.woken(); pause()) {
      if (limited && any_of(2)) {
        if (claim(fj::detail::wait_winners::timed_out)) break;
        limited = false;  // another has claimed the wait, and wakes it
      }
      check(!waits_scenario::here->is_still(), "a wait ends that another thread could end");
    }
    waits_ = {};
    return word_.winner();
  }

 private:
  fj::detail::basic_wait_word<machine> word_;
  const bool limited_;
  thread_in_wait& waits_ = waits_scenario::here->in_wait[rl::thread_index()];
};

/// A waiting_machine.
struct wait_system : machine {
  using waiter = model::waiter;

  static std::int64_t now_ns() { return any_of(2); }
  static unsigned random_below(unsigned limit) { return any_of(limit); }
};

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
