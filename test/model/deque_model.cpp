// The deque: an owner that forks as a program does, and thieves that do whatever thieves may do.

#include "test/model/deque.hpp"
#include "test/model/scenario.hpp"
#include "test/model/scheduler.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct continuation : fj::detail::record {
  job* whose = nullptr;
  continuation* around = nullptr;  // the fork that this one stands in
  model::plain<int> frame;  // the owner's frame: written before the fork, read by the thief, written after the join
  model::plain<int> result;
  model::os::atomic<int> done{0};
  // Known outside of the model's memory, so true at once.
  bool forked = false;
  int runs = 0;
};

}}}  // namespace fj::v0_4::detail

namespace model {
namespace {

using fj::detail::continuation;

constexpr unsigned max_records = 6;

/// What is told apart: whether all is public at once, whether thieves take by force, how many strands the owner runs,
/// one after another or inside another, each for a job of its own; how many thieves there are, how often each tries,
/// how many public records fit, whether the owner handles an exception, and whether it may not answer a fence.
struct setting {
  bool eager = false;
  bool force = false;
  unsigned strands = 1;
  unsigned thieves = 2;
  unsigned tries = 3;
  std::size_t capacity = max_records;
  bool in_handler = false;
  bool deaf = false;
};

template <setting with>
class forking : public scheduling_scenario {
 public:
  forking() {
    scheduler_hooks::owner_handles = with.in_handler;
    scheduler_.threads().may_be_deaf = with.deaf;
    for (unsigned i = 0; i < 2; ++i) {
      scheduler_.all()[i].active.store(i == 0 ? &deque_ : &of_another_.records, std::memory_order_relaxed);
      scheduler_.dispatcher().take_processor(scheduler_.thread(i), scheduler_.all()[i]);
    }
  }

  void thread(unsigned index) override {
    if (index == 0) {
      do strand();
      while (strands_ < with.strands && used_ < max_records);
    } else if (index <= with.thieves) {
      thief(scheduler_.thread(index));
      --thieves_;
    }
  }

  void after() override {
    for (const continuation& record : records_)
      check(!record.forked || record.runs == 1, "every record is run exactly once");
    check(with_slots_.is_within_bounds(), "nothing is stored outside of the slots");
  }

 private:
  // The owner.

  /// The deque is empty. The strand is a new one, or it is resumed here, and what was forked around it has been stolen.
  void strand() {
    job* const whose = &jobs_[strands_++];
    deque_.open(whose);
    do fork(*whose, nullptr);
    while (used_ < max_records && any_of(2));
  }

  /// One fork with all below it.
  void fork(job& whose, continuation* around) {
    continuation& record = records_[used_++];
    record.around = around;
    record.whose = &whose;
    record.frame = 0;
    record.forked = true;
    record_stand_in& in_its_place = stand_ins_[&record - records_];
    if (any_of(2)) {
      fork_as(record, whose, around, record);
    } else {
      in_its_place.stands_for = &record;
      fork_as(in_its_place, whose, around, record);
      in_its_place.stands_for = &never_pushed_;
    }
    check(around || deque_.is_at_rest(), "a fork leaves the deque as it found it");
  }

  template <class Pushed>
  void fork_as(Pushed& pushed, job& whose, continuation* around, continuation& record) {
    worker& m = scheduler_.thread(0);
    if (deque_.push(pushed, deque::name_of(pushed)))
      owner_steps::answer_request(m, deque_, with.in_handler ? &never_pushed_ : nullptr);
    check(!with.in_handler || !deque_.has_private(), "what is forked in a handler is public, as no thief forces it");
    for (unsigned children = any_of(3); children > 0 && used_ < max_records; --children) fork(whose, &record);
    const bool mine = deque_.pop(pushed) || owner_steps::take_back(m, deque_, pushed);
    // The frame is used for something else.
    pushed.older.store(deque::name_of(never_pushed_), std::memory_order_relaxed);
    if (mine) {
      check(record.runs++ == 0, "no record is run twice");
      record.frame = 1;  // and gone
    } else {
      for (const continuation* older = around; older; older = older->around)
        check(older->runs == 1, "when a record is stolen, so are the older ones");
      check(deque_.is_at_rest(), "then the deque is empty");
      join(record, whose);
    }
  }

  void join(continuation& record, job& whose) {
    // Either the strand waits on its deque, or it suspends, and another one takes its place there.
    if (strands_ < with.strands && used_ < max_records && any_of(2)) {
      strand();
      deque_.open(&whose);
    }
    wait_until([&] {
      check(record.runs > 0 || thieves_ > 0, "no record is lost");
      return record.runs > 0 && record.done.load(std::memory_order_acquire);
    });
    check(record.result.get() == 1, "the result is there");
    record.frame = 1;
  }

  // The thieves.

  void thief(worker& m) {
    for (unsigned i = 0; i < with.tries; ++i) {
      // Whether the owner is told that thieves are hungry.
      any_of(2) ? scheduler_.dispatcher().start_spinning(m) : scheduler_.dispatcher().stop_spinning(m);
      if (with.force && any_of(2)) forcer::force(m, now_ns());
      job* const only = with.strands > 1 && any_of(2) ? &jobs_[any_of(with.strands)] : nullptr;
      const auto [taken, whose, handled] = deque_.for_thieves().steal(only);
      if (taken) {
        auto* const record = static_cast<continuation*>(taken);
        check(record != &never_pushed_, "what is stolen has been pushed");
        check(record->runs++ == 0, "no record is run twice");
        check(record->whose == whose && (!only || only == whose), "a thief knows whose record it has");
        check(record->frame.get() == 0, "the frame is there");
        record->result = 1;
        record->done.store(1, std::memory_order_release);
      }
      if (any_of(2)) deque_.request();
    }
  }

  job jobs_[with.strands];
  continuation never_pushed_;
  continuation records_[max_records];
  record_stand_in stand_ins_[max_records];
  deque_with_slots<with.capacity> with_slots_{never_pushed_, with.eager};
  deque& deque_ = with_slots_.records;
  deque_with_slots<1> of_another_{never_pushed_, with.eager};
  scheduler scheduler_{2, with.eager, 0};
  unsigned thieves_ = with.thieves;
  unsigned used_ = 0, strands_ = 0;
};

}  // namespace

const named_scenario scenarios[] = {
    {"steal", 300'000, &make<forking<setting{}>>},
    {"reuse", 300'000, &make<forking<setting{.strands = 3, .tries = 4}>>},
    {"force", 400'000, &make<forking<setting{.force = true, .strands = 2}>>},
    {"force_deaf", 300'000, &make<forking<setting{.force = true, .strands = 2, .deaf = true}>>},
    {"handler", 200'000, &make<forking<setting{.force = true, .in_handler = true}>>},
    {"overflow", 300'000, &make<forking<setting{.force = true, .tries = 6, .capacity = 1}>>},
    {"eager", 200'000, &make<forking<setting{.eager = true, .strands = 2}>>},
    {},
};

}  // namespace model
