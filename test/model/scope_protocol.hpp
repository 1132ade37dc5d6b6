// What stands around the counting join in child.cpp, retold under the same names. A change there belongs here as well.
#pragma once

#include "runtime/fork/counting_join.hpp"
#include "test/model/scenario.hpp"

namespace model {

/// A scope, strands that fork into it, and workers that run its stolen children. Children are numbers.
class scope_protocol : public scenario {
 protected:
  static constexpr int most_children = 8;

  // The home strand.

  void go_on_as_thief() { joined_.stolen(); }

  /// False if the strand has suspended: home_goes_on is called later, perhaps by another thread.
  bool join_children_slow() {
    if (!joined_.all_arrived()) {
      context_ = 1;
      if (joined_.wait()) return false;
      context_ = 2;  // no other thread looks at it now
      joined_.go_on();
    }
    return true;
  }

  void resume_home() {
    check(context_ == 1, "the context was saved, and the strand is resumed once");
    context_ = 3;
    joined_.go_on();
    home_goes_on();
  }

  virtual void home_goes_on() = 0;

  // Another strand.

  /// A fork that is stolen, or not.
  void call_child_slow(int number, bool stolen) {
    joined_.fork_elsewhere();
    if (stolen) {
      post(number);
    } else {
      run_child(number);
      if (joined_.arrive()) ready_.store(1, std::memory_order_release);
    }
  }

  // A child.

  virtual void run_child(int number) = 0;

  void end_stolen_child() {
    if (joined_.arrive()) resume_home();
  }

  // Workers.

  void post(int number) { posted_[number].store(1, std::memory_order_release); }

  /// Runs what there is until the home strand is at its end.
  void work() {
    while (!over_.load(std::memory_order_acquire)) {
      int found = 1;
      if (ready_.load(std::memory_order_relaxed) &&
          ready_.compare_exchange_strong(found, 0, std::memory_order_acquire, std::memory_order_relaxed))
        resume_home();
      for (int i = 0; i < most_children; ++i) {
        found = 1;
        if (!posted_[i].load(std::memory_order_relaxed) ||
            !posted_[i].compare_exchange_strong(found, 0, std::memory_order_acquire, std::memory_order_relaxed))
          continue;
        run_child(i);
        end_stolen_child();
      }
      pause();
    }
  }

  fj::detail::basic_counting_join<machine> joined_;
  machine::atomic<int> over_{0};

 private:
  plain<int> context_{0};  // what the suspended home strand left behind
  machine::atomic<int> ready_{0};
  machine::atomic<int> posted_[most_children];
};

}  // namespace model
