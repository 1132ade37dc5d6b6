// A wait that two or three others would end: exactly one of them does, exactly one strand goes on with what it wrote, and no
// other touches the wait once its frame may be gone.

#include <cstdint>

#include "runtime/os/thread_safety.hpp"
#include "runtime/schedule/timer_heap.hpp"
#include "runtime/sync/wait_word.hpp"
#include "test/model/scenario.hpp"

namespace model {
namespace {

using wait_word = fj::detail::basic_wait_word<machine>;

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

using timer_heap = fj::detail::basic_timer_heap<machine>;

/// A wait with a deadline. An event, a timer and a stop would end it: what runtime/wait/waiter.cpp, a queue's owner and
/// std::stop_callback do is retold.
class timed_wait : public scenario {
 public:
  timed_wait() { timers_.make_room(); }

  void thread(unsigned index) override {
    if (index == 0) waiter();
    if (index == 1 && any_of(2)) {
      event();
      stop();
    } else if (index == 1) {
      stop();
      event();
    }
    if (index == 2) timers_.fire_due(when_due);
  }

  void after() override { check(went_on_ == 1, "the strand that waited goes on once"); }

 private:
  enum end : unsigned { by_event, by_stop, by_timer };
  static constexpr std::int64_t when_due = 10;

  struct timer final : timer_heap::timer {
    explicit timer(timed_wait& w) : timer_heap::timer(when_due), of(w) {}
    bool claim_wait() noexcept override { return of.claims(by_timer); }
    void wake() noexcept override { of.wakes(by_timer); }
    timed_wait& of;
  };

  void waiter() {
    {
      const fj::detail::locked lock(queue_);
      queued_ = 1;
    }
    bool stopped = false;
    {
      const fj::detail::locked lock(callback_);
      has_callback_ = 1;
      stopped = asked_.get() && claims(by_stop);
    }
    if (stopped) wakes(by_stop);
    timers_.arm(timer_);
    context_ = 1;
    if (word_.suspend(&context_)) return;
    check(word_.woken(), "a wait that does not suspend has been woken");
    go_on();
  }

  void event() {
    {
      const fj::detail::locked lock(queue_);
      if (!queued_.get()) return;
      queued_ = 0;
      if (!claims(by_event)) return;
    }
    wakes(by_event);
  }

  // The waiter does not go on before the callback has returned.
  void stop() {
    void* strand = nullptr;
    {
      const fj::detail::locked lock(callback_);
      asked_ = 1;
      if (!has_callback_.get() || !claims(by_stop)) return;
      result_ = static_cast<int>(by_stop);
      strand = word_.wake();
    }
    if (strand) go_on();
  }

  bool claims(end by) {
    check(frame_.get() == 1, "the frame of the wait is there");
    return word_.claim(by);
  }

  void wakes(end by) {
    check(frame_.get() == 1, "the frame of the wait is there");
    result_ = static_cast<int>(by);
    if (word_.wake()) go_on();
  }

  // On the thread that resumes the strand.
  void go_on() {
    check(word_.woken(), "a strand that goes on has been woken");
    ++went_on_;
    check(word_.winner() == static_cast<unsigned>(static_cast<int>(result_)), "the result is the claimant's");
    if (word_.winner() != by_timer) timers_.disarm(timer_);
    {
      const fj::detail::locked lock(callback_);
      has_callback_ = 0;
    }
    {
      const fj::detail::locked lock(queue_);
      queued_ = 0;
    }
    frame_ = 0;
  }

  timer_heap timers_;
  timer timer_{*this};
  wait_word word_;
  machine::mutex queue_, callback_;
  plain<int> queued_{0}, has_callback_{0}, asked_{0}, frame_{1}, context_{0}, result_{0};
  int went_on_ = 0;
};

}  // namespace

const named_scenario scenarios[] = {
    {"wait", 1'000'000, &make<wait>},
    {"timed_wait", 500'000, &make<timed_wait>},
    {},
};

}  // namespace model
