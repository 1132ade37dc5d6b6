// A wait that two others would end: exactly one of them does, and exactly one strand goes on with what it wrote.

#include "runtime/wait/wait_word.hpp"
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

}  // namespace

const named_scenario scenarios[] = {
    {"wait", 1'000'000, &make<wait>},
    {},
};

}  // namespace model
