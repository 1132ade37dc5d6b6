// Parking: an owner forks while workers look for work, go to sleep, and are woken. The record of a fork whose child
// never returns must not wait while a worker sleeps.

#include "test/model/deque.hpp"
#include "test/model/scenario.hpp"

namespace fj::inline v0_1::detail {

struct root {};

struct continuation : model::deque::record {
  bool waits = false;  // in the deque, and its owner will not come back for it
};

}  // namespace fj::inline v0_1::detail

#include "test/model/protocol.hpp"

namespace model {
namespace {

/// What is told apart: whether every push is public at once; whether the owner holds a P, is a thread from outside that
/// needs one first, or does not fork at all but makes fibers runnable; how many workers there are; whether a visitor
/// takes a P and gives it back; how many forks come to an end, one after another, and how many do not: some of these come
/// before them, the others after.
enum class owner_is { inside, outside, waker };
enum class visitor { none, comes_and_goes, goes };

struct setting {
  bool eager = false;
  owner_is owner = owner_is::inside;
  unsigned workers = 1;
  visitor third = visitor::none;
  unsigned ending = 2;
  unsigned endless = 1;
};

template <setting with>
class parking_workers : public scenario {
 public:
  parking_workers() {
    if (with.third == visitor::goes && any_of(2)) {
      scheduler_.starts_spinning(threads_[2]);
    } else if (with.third == visitor::goes) {
      scheduler_.starts_working(threads_[2]);
    }
    if (with.owner == owner_is::outside && with.third != visitor::goes) scheduler_.starts_idle();
    if (with.owner == owner_is::inside) {
      scheduler_.starts_working(threads_[0]);
      deque_.open(&job_);
    }
    for (unsigned i = 1; i <= with.workers; ++i) {
      worker& m = threads_[i];
      how_[i] = with.third == visitor::comes_and_goes ? 2 : any_of(3);
      if (how_[i] == 0) scheduler_.starts_working(m);
      if (how_[i] == 1) scheduler_.starts_spinning(m);
      if (how_[i] == 2) scheduler_.starts_asleep(m);
    }
  }

  void thread(unsigned index) override {
    worker& m = threads_[index];
    if (index == 0) with.owner == owner_is::waker ? waker() : owner(m);
    if (index >= 1 && index <= with.workers) work(m, index);
    if (index == 2 && with.third != visitor::none) visit(m);
  }

  void after() override {
    for (const continuation& record : records_)
      check(!record.waits || sleepers_ == 0, "no record waits while a worker sleeps");
    check(scheduler_.still_ready() == 0 || sleepers_ == 0, "no runnable fiber waits while a worker sleeps");
  }

 private:
  static constexpr unsigned max_records = with.ending + with.endless;

  void owner(worker& m) {
    if (with.owner == owner_is::outside) {
      if (!scheduler_.enter(m)) return;
      deque_.open(&job_);
    }
    unsigned endless = 0;
    for (const unsigned before = any_of(with.endless); endless < before; ++endless) push().waits = true;
    for (unsigned i = any_of(with.ending + 1); i > 0; --i) {
      continuation& record = push();
      if (!deque_.pop(record) && !pop_slow(deque_, record, [this] { return scheduler_.idleness().hungry(); })) return;
    }
    for (; endless < with.endless; ++endless) push().waits = true;
    for (unsigned i = 0; i < used_; ++i)
      if (taken_[i]) records_[i].waits = false;
  }

  void waker() {
    for (unsigned i = 0; i < with.endless; ++i) scheduler_.ready();
  }

  continuation& push() {
    continuation& record = records_[used_++];
    if (deque_.push(record, deque::name_of(record)))
      push_slow(
          deque_, &job_, with.eager, [this] { return scheduler_.idleness().hungry(); }, [this] { scheduler_.wake(); });
    return record;
  }

  void work(worker& m, unsigned index) {
    for (auto next = how_[index] == 2 ? after_park::sleep : after_park::work;; next = scheduler_.park(m)) {
      if (next == after_park::sleep && !sleep(m)) {
        ++sleepers_;
        return;
      }
      if (!m.held) continue;
      if (const loot found = scheduler_.find_work(m)) {
        check(found.record != &never_pushed_, "what is stolen has been pushed");
        if (found.record) {
          taken_[found.record - records_] = true;
          found.record->waits = false;
        }
        return;  // and works on it forever
      }
    }
  }

  // False if there is nobody left to wake it.
  bool sleep(worker& m) {
    m.sleeps = true;
    wait_until([&] { return m.woken || nobody_is_awake(); });
    if (!m.woken) return false;
    m.sleeps = m.woken = false;
    check(m.signalled.exchange(0, std::memory_order_acquire) == 1, "a signal is seen");
    return true;
  }

  bool nobody_is_awake() const {
    for (unsigned i = 0; i < threads; ++i)
      if (!system_state.ended[i] && (!threads_[i].sleeps || threads_[i].woken)) return false;
    return true;
  }

  void visit(worker& m) {
    if (with.third == visitor::goes || scheduler_.enter(m)) scheduler_.hand_over(m);
  }

  root job_;
  continuation never_pushed_;
  continuation records_[max_records];
  bool taken_[max_records] = {};
  deque_with_slots<max_records> with_slots_{never_pushed_, with.eager};
  deque& deque_ = with_slots_.records;
  scheduler scheduler_{static_cast<int>(with.workers) + (with.owner != owner_is::waker), deque_, with.eager};
  worker threads_[threads];
  unsigned how_[threads] = {};  // they begin: looking for work, spinning, asleep
  unsigned used_ = 0, sleepers_ = 0;
};

}  // namespace

const named_scenario scenarios[] = {
    {"park", 400'000, &make<parking_workers<setting{}>>},
    {"park_eager", 200'000, &make<parking_workers<setting{.eager = true}>>},
    {"arrive", 300'000, &make<parking_workers<setting{.owner = owner_is::outside, .ending = 1}>>},
    {"two", 400'000, &make<parking_workers<setting{.workers = 2, .ending = 1, .endless = 2}>>},
    {"visit", 300'000, &make<parking_workers<setting{.third = visitor::comes_and_goes, .ending = 0}>>},
    {"leave", 400'000, &make<parking_workers<setting{.owner = owner_is::outside, .third = visitor::goes}>>},
    {"ready", 300'000, &make<parking_workers<setting{.owner = owner_is::waker, .workers = 2, .endless = 2}>>},
    {},
};

}  // namespace model
