// A mutex: one owner at a time, no waiter is forgotten, a waiter that starved is next, and the last user may destroy
// it.

#include <cstdint>
#include <functional>
#include <optional>

#include "test/model/waits.hpp"

#include "runtime/base/tuning.hpp"
#include "runtime/wait/mutex_protocol.cpp"

namespace model {
namespace {

using fj::detail::mutex_protocol;

/// By a clock on which each waiter starves, or some do.
class mutex_scenario : public waits_scenario {
 public:
  explicit mutex_scenario(bool all_starve = false) : all_starve_(all_starve) {}

  std::int64_t now_ns() override {
    return all_starve_ ? clock_ += fj::detail::tuning::starving_ns : any_of(2) * fj::detail::tuning::starving_ns;
  }

  void after() override {
    check(counted_.get() == owners_, "each owner saw what those before it wrote");
    check(mutex_.try_lock(), "nobody owns the mutex at the end");
  }

 protected:
  /// Whether the caller owns the mutex now.
  bool lock(const wait_limits& limits = {}) {
    const unsigned me = rl::thread_index();
    const bool waits = any_of(4) != 0;
    in_lock_ |= waits << me;
    const bool got = waits ? mutex_.lock(limits) == wait_end::served : mutex_.try_lock();
    in_lock_ &= ~(1u << me);
    if (!got) return false;
    check(!owned_, "a mutex has one owner");
    check(!next_ || *next_ & 1u << me, "a waiter that starved gets the mutex at the next unlock");
    next_.reset();
    owned_ = true;
    ++owners_;
    counted_ = counted_ + 1;
    return true;
  }

  void lock_surely() {
    while (!lock()) pause();
  }

  void unlock() {
    check(owned_, "no other frees the mutex");
    owned_ = false;
    if (all_starve_ && any_waits_for_good()) next_ = in_lock_;
    check(mutex_.unlock(), "a mutex that is unlocked is locked");
  }

  bool is_in_mutex(const void* at) const {
    return !std::less<>()(at, &mutex_) && std::less<const void*>()(at, &mutex_ + 1);
  }

  void own_and_free(const wait_limits& limits = {}) {
    if (!lock(limits)) return;
    if (any_of(2)) pause();
    unlock();
  }

 private:
  bool any_waits_for_good() const {
    for (const thread_in_wait& each : in_wait)
      if (each.may_end && !*each.may_end) return true;
    return false;
  }

  mutex_protocol mutex_;
  plain<int> counted_{0};
  // Known outside of the model's memory.
  const bool all_starve_;
  std::int64_t clock_ = 0;
  bool owned_ = false;
  int owners_ = 0;
  unsigned in_lock_ = 0;          // threads that would wait
  std::optional<unsigned> next_;  // one of these is the next owner
};

/// Each thread takes it once or twice.
class contended : public mutex_scenario {
 public:
  void thread(unsigned) override {
    for (unsigned n = 1 + any_of(2); n > 0; --n) own_and_free();
  }
};

/// The same by a clock on which each waiter has starved when the mutex becomes free.
class starved : public mutex_scenario {
 public:
  starved() : mutex_scenario(true) {}
  void thread(unsigned) override {
    for (unsigned n = 1 + any_of(2); n > 0; --n) own_and_free();
  }
};

/// A limit may end the waits of one thread or two, just when an unlock would wake or own them.
class limited : public mutex_scenario {
 public:
  limited() : mutex_scenario(any_of(2)) {}
  void thread(unsigned index) override {
    const bool has_limit = index == 1 || (index == 2 && two_);
    for (unsigned n = 1 + any_of(2); n > 0; --n) own_and_free(has_limit ? soon : wait_limits{});
  }

 private:
  const bool two_ = any_of(2);
};

/// The last of its users destroys it as soon as it has freed it.
class destroyed : public mutex_scenario {
 public:
  destroyed() : mutex_scenario(any_of(2)) { made_ = true; }

  void thread(unsigned) override {
    if (!any_of(2) || !lock(soon)) lock_surely();
    users_ = users_ - 1;
    const bool last = users_.get() == 0;
    unlock();
    if (last) gone_ = 1;
  }

  void after() override { check(gone_.get() == 1, "one user is the last"); }

  /// An access to the mutex. A plain read: one that is not ordered before the destruction is reported, too.
  void touch(const void* at) override {
    if (made_ && is_in_mutex(at)) check(gone_.get() == 0, "a mutex that is destroyed is not touched");
  }

 private:
  bool made_ = false;
  plain<int> users_{threads}, gone_{0};
};

}  // namespace

const named_scenario scenarios[] = {
    {"mutex", 300'000, &make<contended>},
    {"mutex_starved", 300'000, &make<starved>},
    {"mutex_limits", 300'000, &make<limited>},
    {"mutex_destroyed", 300'000, &make<destroyed>},
    {},
};

}  // namespace model
