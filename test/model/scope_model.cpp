// A scope: its home strand forks and joins some times; children of its own and of others fork into it; another strand
// forks into it, too, for which only the last join must wait. At each join the home strand sees what its children
// wrote, and theirs. A stolen fork has its child begin on a stack of its own, for any worker.

#include "test/model/strands.hpp"

#include "forkjoin/abi/counting_join.hpp"
#include "runtime/strand/child_protocol.hpp"
#include "runtime/strand/wait_at_join.hpp"

namespace model {
namespace {

class scope : public strands_scenario {
 public:
  scope() {
    for (int i = 0; i < most_children; ++i) {
      forks_[i].whose = this;
      forks_[i].number = i;
    }
    home_ = &begin(home_forks_);
    other_ = &begin(nothing_);
    children_.home = home_;
    unfinished_ = others_ ? 2 : 1;
  }

  void thread(unsigned index) override {
    if (index == 0) {
      execute(home_);
      --unfinished_;
    }
    if (index == 1 && others_) {
      for (int i = others_first; i < others_first + forks; ++i) fork(*other_, i);
      other_is_over_.store(1, std::memory_order_release);
      --unfinished_;
    }
    work();
  }

  void after() override { check(round_ == rounds, "every join ends, once"); }

 private:
  using protocol = fj::detail::child_protocol;

  static constexpr int rounds = 3;
  static constexpr int forks = 2;          // of the home strand in a round, and of the other strand
  static constexpr int grandchildren = 4;  // numbers from there on
  static constexpr int others_first = 2;   // the other strand's numbers
  static constexpr int most_children = 8;

  // Numbers: 0 and 1 are the home strand's, 2 and 3 the other strand's, and number + 4 is what number forks.
  struct child {
    void operator()() {
      whose->run_child(*on, number);
      protocol::end_stolen_child(whose->children_);
    }

    scope* whose = nullptr;
    int number = 0;
    strand* on = nullptr;  ///< the strand that it runs on
    plain<int> forked{0}, done{0};
  };

  struct known_to_children {
    fj::detail::counting_join joined;
    plain<strand*> home{nullptr};
  };

  void run_at_home() {
    while (round_ < rounds) {
      for (int i = 0; i < forks; ++i)
        if (any_of(2)) fork_at_home(i);  // else it is not stolen, and leaves no trace
      if (round_ == rounds - 1 && others_)
        wait_until([&] { return other_is_over_.load(std::memory_order_acquire) != 0; });
      if (children_.joined.touched() != 0) fj::detail::wait_for_all(children_.joined);
      for (int i = 0; i < forks; ++i) take(i);
      if (round_ == rounds - 1 && others_)
        for (int i = others_first; i < others_first + forks; ++i) take(i);
      ++round_;
    }
    children_.home = nullptr;  // the frame is gone
    strand_hooks::end_strand(nullptr);
  }

  void take(int number) {
    if (!forks_[number].forked) return;
    check(forks_[number].done == 1, "a child has been done");
    forks_[number].done = 0;
    forks_[number].forked = 0;
    if (number < grandchildren) take(number + grandchildren);
  }

  // As forkjoin/scope.hpp: fork_onto, when the fork is stolen; or with an exception in flight.
  void fork_at_home(int number) {
    if (any_of(2)) return fork(*home_, number);
    steal(number);
    protocol::go_on_as_thief(children_);
  }

  void fork(strand& here, int number) {
    forks_[number].forked = 1;
    protocol::fork_child(children_, here, [&] {
      const bool stolen = &here == home_ || any_of(2);
      if (stolen) {
        steal(number);
      } else {
        run_child(here, number);
      }
      return stolen;
    });
  }

  void steal(int number) {
    forks_[number].forked = 1;
    strand& s = begin(forks_[number]);
    forks_[number].on = &s;
    post(s);
  }

  void run_child(strand& here, int number) {
    if (number < grandchildren && any_of(2)) fork(here, number + grandchildren);
    forks_[number].done = 1;
  }

  struct at_home {
    void operator()() { whose->run_at_home(); }
    scope* whose;
  };
  struct nothing {
    void operator()() {}
  };

  const bool others_ = any_of(2);
  known_to_children children_;
  int round_ = 0;
  child forks_[most_children];
  os::atomic<int> other_is_over_{0};
  at_home home_forks_{this};
  nothing nothing_;
  strand *home_ = nullptr, *other_ = nullptr;
};

}  // namespace

const named_scenario scenarios[] = {
    {"scope", 1'000'000, &make<scope>},
    {},
};

}  // namespace model
