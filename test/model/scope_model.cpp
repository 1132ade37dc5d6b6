// A scope: its home strand forks and joins some times; children of its own and of others fork into it; another strand
// forks into it, too, for which only the last join must wait. At each join the home strand sees what its children wrote,
// and theirs.

#include "test/model/scope_protocol.hpp"

namespace model {
namespace {

class strands : public scope_protocol {
 public:
  void thread(unsigned index) override {
    if (index == 0) home_forks();
    if (index == 1 && others_) other_strand();
    work();
  }

  void after() override { check(round_ == rounds, "every join ends, once"); }

 private:
  static constexpr int rounds = 3;
  static constexpr int forks = 2;          // of the home strand in a round, and of the other strand
  static constexpr int grandchildren = 4;  // numbers from there on
  static constexpr int others_first = 2;   // the other strand's numbers

  // Numbers: 0 and 1 are the home strand's, 2 and 3 the other strand's, and number + 4 is what number forks.

  void home_forks() {
    for (int i = 0; i < forks; ++i) {
      forks_[i].forked = static_cast<int>(any_of(2));
      if (!forks_[i].forked) continue;  // unstolen, it leaves no trace
      post(i);
      go_on_as_thief();
    }
    if (round_ == rounds - 1 && others_)
      wait_until([&] { return other_is_over_.load(std::memory_order_acquire) != 0; });
    if (joined_.touched() == 0 || join_children_slow()) home_goes_on();
  }

  void home_goes_on() override {
    for (int i = 0; i < forks; ++i) take(i);
    if (round_ == rounds - 1 && others_)
      for (int i = others_first; i < others_first + forks; ++i) take(i);
    if (++round_ < rounds) return home_forks();
    over_.store(1, std::memory_order_release);
  }

  void take(int number) {
    if (!forks_[number].forked) return;
    check(forks_[number].done == 1, "a child has been done");
    forks_[number].done = 0;
    forks_[number].forked = 0;
    if (number < grandchildren) take(number + grandchildren);
  }

  void other_strand() {
    for (int i = others_first; i < others_first + forks; ++i) {
      forks_[i].forked = 1;
      call_child_slow(i, any_of(2));
    }
    other_is_over_.store(1, std::memory_order_release);
  }

  void run_child(int number) override {
    if (number < grandchildren && any_of(2)) {
      forks_[number + grandchildren].forked = 1;
      call_child_slow(number + grandchildren, any_of(2));
    }
    forks_[number].done = 1;
  }

  const bool others_ = any_of(2);
  int round_ = 0;
  struct fork {
    plain<int> forked{0}, done{0};
  } forks_[most_children];
  machine::atomic<int> other_is_over_{0};
};

}  // namespace

const named_scenario scenarios[] = {
    {"scope", 1'000'000, &make<strands>},
    {},
};

}  // namespace model
