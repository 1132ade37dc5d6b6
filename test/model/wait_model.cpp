// A wait that two or three others would end: exactly one of them does, exactly one strand goes on with what it wrote,
// and no other touches the wait once its frame may be gone.

#include <cstdint>

#include "test/model/waits.hpp"

#include "forkjoin/abi/os/thread_safety.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "forkjoin/detail/operation_wait.hpp"

namespace model {
namespace {

using fj::detail::wait_word;

class wait : public scenario {
 public:
  void thread(unsigned index) override {
    if (index == 0) waiter();
    if (index == 1) ends(1);
    if (index == 2) ends(2);
  }

  void after() override { check(went_on_ == 1, "the strand that waited goes on once"); }

 private:
  void waiter() {
    context_ = 1;
    if (word_.suspend(&context_)) return;
    check(word_.woken(), "a wait that does not suspend has been woken");
    context_ = 2;  // no other thread looks at it now
    go_on();
  }

  void ends(unsigned me) {
    if (!word_.claim(me)) return;
    result_ = static_cast<int>(me);
    void* const strand = word_.wake();
    if (!strand) return;
    check(strand == &context_, "the claimant finds the strand");
    check(context_ == 1, "the context was saved");
    context_ = 3;
    check(word_.woken(), "a strand that is resumed has been woken");
    go_on();
  }

  void go_on() {
    ++went_on_;
    check(word_.winner() == static_cast<unsigned>(static_cast<int>(result_)), "the result is the claimant's");
    result_ = 0;  // the frame is gone
  }

  wait_word word_;
  plain<int> context_{0}, result_{0};
  int went_on_ = 0;
};

/// A strand that waits with a deadline, for what comes through a queue: an event, the timer and a stop would end the
/// wait.
class timed_wait : public waits_scenario {
 public:
  timed_wait() : waits_scenario(&strands_) {}

  void thread(unsigned index) override {
    if (index == 0) wait();
    if (index == 1 && any_of(2)) {
      event();
      strands_.stops.request_stop();
    } else if (index == 1) {
      strands_.stops.request_stop();
      event();
    }
    if (index == 2) strands_.timers.fire_due(when_due);
  }

  void after() override { check(went_on_ == 1, "the strand that waited goes on once"); }

 private:
  static constexpr unsigned by_event = 1;
  static constexpr std::int64_t when_due = 10;

  void wait() {
    waiter here({.until = when_due, .stop = &any_token});
    {
      const fj::detail::locked lock(queue_);
      queued_ = &here;
    }
    const unsigned by = here.wait();
    ++went_on_;
    if (by == by_event) check(result_.get() == 1, "the strand sees what the claimant wrote");
    const fj::detail::locked lock(queue_);
    queued_ = nullptr;
  }

  void event() {
    waiter* first = nullptr;
    {
      const fj::detail::locked lock(queue_);
      first = queued_;
      queued_ = nullptr;
      if (!first || !first->claim(by_event)) return;
    }
    result_ = 1;
    first->wake();
  }

  scheduler strands_;
  os::mutex queue_;
  waiter* queued_ = nullptr;  // with the mutex
  plain<int> result_{0};
  int went_on_ = 0;
};

/// A strand that waits for an operation with a deadline and a stop token. The operation completes at any time, or not
/// before it is asked to stop; then a limit has to end the first wait.
class operation_wait : public waits_scenario {
 public:
  operation_wait() : waits_scenario(&strands_) {}

  void thread(unsigned index) override {
    if (index == 0) wait();
    if (index == 1) complete();
    if (index == 2) {
      if (any_of(2)) strands_.timers.fire_due(when_due);  // perhaps before it is armed
      strands_.stops.request_stop();
    }
  }

  void after() override { check(went_on_ == 1, "the strand that waited goes on once"); }

 private:
  static constexpr std::int64_t when_due = 10;

  void wait() {
    fj::detail::operation_wait here({.until = when_due, .stop = &any_token});
    operation_ = &here;
    begun_.store(1, std::memory_order_release);
    const wait_end ended = here.wait([this] { asked_.store(1, std::memory_order_release); });
    ++went_on_;
    check(result_.get() == 1, "the strand sees the operation's result");
    check(ended == wait_end::served || asked_.load(std::memory_order_relaxed) == 1,
          "a limit asks the operation to stop");
  }

  void complete() {
    while (begun_.load(std::memory_order_acquire) == 0) pause();
    const bool when_asked = any_of(2);
    while (when_asked && asked_.load(std::memory_order_acquire) == 0) pause();
    result_ = 1;
    operation_.get()->end();
  }

  scheduler strands_;
  plain<fj::detail::operation_wait*> operation_{nullptr};
  os::atomic<int> begun_{0}, asked_{0};
  plain<int> result_{0};
  int went_on_ = 0;
};

}  // namespace

const named_scenario scenarios[] = {
    {"wait", 1'000'000, &make<wait>},
    {"timed_wait", 500'000, &make<timed_wait>},
    {"operation_wait", 500'000, &make<operation_wait>},
    {},
};

}  // namespace model
