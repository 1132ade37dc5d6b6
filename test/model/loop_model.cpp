// A loop of forks: its home strand and thieves run the turns, each thief may lose its rest to the next, and all meet at one
// join. What stands around the deque and the counting join in runtime/slow/fork_loop.cpp and forkjoin/detail/fork_loop.hpp is
// retold under the same names. A change there belongs here as well.

#include "runtime/fork/counting_join.hpp"
#include "test/model/deque.hpp"
#include "test/model/scenario.hpp"
#include "test/model/system.hpp"

namespace fj::inline v0_1::detail {

/// The rest of the loop.
struct continuation : model::deque::record {
  model::plain<int> next;
};

}  // namespace fj::inline v0_1::detail

namespace model {
namespace {

using fj::detail::continuation;

template <bool eager>
class looping : public scenario {
 public:
  looping() {
    for (unsigned i = 0; i < workers; ++i) {
      scheduler_.all()[i].active.store(&deques_[i].records, std::memory_order_relaxed);
      scheduler_.dispatcher().enter(scheduler_.thread(i), nothing_);
    }
  }

  void thread(unsigned index) override {
    if (index == 0) run_at_home();
    if (index < workers) work(index);
  }

  void after() override { check(ends_ == 1, "the home strand goes on, once"); }

 private:
  static constexpr unsigned workers = 3;
  static constexpr int count = 4;  // of turns

  deque& deque_of(unsigned index) { return deques_[index].records; }

  void run_turn(int turn) {
    check(turns_[turn].done == 0, "no turn is run twice");
    turns_[turn].done = 1;
  }

  template <class Pushed>
  void push(unsigned index, Pushed& pushed) {
    deque& d = deque_of(index);
    if (d.push(pushed, deque::name_of(pushed))) owner::answer_alarm(scheduler_.thread(index), d, nullptr);
  }

  template <class Pushed>
  bool pop(unsigned index, const Pushed& pushed) {
    deque& d = deque_of(index);
    return d.pop(pushed) || owner::take_back(scheduler_.thread(index), d, pushed);
  }

  // The home strand.

  void run_at_home() {
    deque_of(0).open(&root_);
    for (int i = 0; i < count; ++i) {
      rest_.next = i + 1;
      if (i + 1 != count) push(0, rest_);
      run_turn(i);
      if (i + 1 != count && !pop(0, rest_)) return join_from(rest_.next);
    }
    go_on_at_home();
  }

  void join_from(int first) {
    joined_.stolen(count - first);
    if (!joined_.all_arrived()) {
      context_ = 1;
      if (joined_.wait()) return;  // the worker looks for other work
      context_ = 2;                // no other thread looks at it now
      joined_.go_on();
    }
    go_on_at_home();
  }

  void go_on_at_home() {
    for (int i = 0; i < count; ++i) {
      check(turns_[i].done == 1, "all turns have been run");
      turns_[i].done = 2;
    }
    rest_.next = -1;  // the frame is gone
    stolen_rest_.next = -1;
    ++ends_;
    over_.store(1, std::memory_order_release);
  }

  // A thief.

  void go_on_with_loop(unsigned index, continuation& rest) {
    const int first = rest.next;
    check(0 < first && first < count, "the frame is there");
    deque_of(index).open(&root_);
    const int end = run_stolen_turns(index, first);
    if (joined_.arrive(end - first)) {
      check(context_ == 1, "the context was saved, and the strand is resumed once");
      context_ = 3;
      joined_.go_on();
      go_on_at_home();
    }
  }

  int run_stolen_turns(unsigned index, int turn) {
    stand_in& offered = stand_ins_[turn];
    offered.stands_for = &stolen_rest_;
    while (turn + 1 != count) {
      stolen_rest_.next = turn + 1;
      push(index, offered);
      run_turn(turn++);
      if (!pop(index, offered)) {
        leave(offered);
        return turn;
      }
    }
    run_turn(turn);
    leave(offered);
    return count;
  }

  // The thief's frame is used for something else.
  void leave(stand_in& gone) {
    gone.stands_for = &never_pushed_;
    gone.older.store(deque::name_of(never_pushed_), std::memory_order_relaxed);
  }

  void work(unsigned index) {
    while (!over_.load(std::memory_order_acquire)) {
      for (unsigned i = 0; i < workers; ++i) {
        if (i == index) continue;
        auto* const record = static_cast<continuation*>(deque_of(i).for_thieves().steal(nullptr).record);
        check(record != &never_pushed_, "what is stolen has been pushed");
        if (record) go_on_with_loop(index, *record);
        if (!eager) deque_of(i).alarm();
      }
      pause();
    }
  }

  root root_;
  continuation never_pushed_;
  continuation rest_, stolen_rest_;  // of the home strand, and of thieves
  stand_in stand_ins_[count];        // in the frames of thieves
  fj::detail::basic_counting_join<machine> joined_;
  struct {
    plain<int> done{0};
  } turns_[count];
  plain<int> context_{0};  // what the suspended home strand left behind
  machine::atomic<int> over_{0};
  int ends_ = 0;
  deque_with_slots<count> deques_[workers]{{never_pushed_, eager}, {never_pushed_, eager}, {never_pushed_, eager}};
  scheduler scheduler_{workers, eager, 0};
  fiber nothing_;
};

}  // namespace

const named_scenario scenarios[] = {
    {"loop", 40'000, &make<looping<false>>},
    {"loop_eager", 50'000, &make<looping<true>>},
    {},
};

}  // namespace model
