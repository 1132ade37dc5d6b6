// The join: an owner and a thief meet, and one of them goes on with all that both did.

#include "runtime/fork/join.hpp"
#include "test/model/scenario.hpp"

namespace fj::inline v0_1::detail {
struct continuation {};
}  // namespace fj::inline v0_1::detail

namespace model {
namespace {

using fj::detail::outcome;
using join = fj::detail::basic_join<machine>;

[[gnu::aligned(16)]] outcome body(fj::detail::continuation&) noexcept { return outcome::returned; }

class meeting : public scenario {
 public:
  void thread(unsigned index) override {
    if (index == 0) owner();
    if (index == 1) thief();
  }

  void after() override { check(went_on_ == 1, "exactly one goes on after the join"); }

 private:
  struct waiter : fj::detail::join_waiter {
    plain<int> context;  // what a suspended owner left behind
  };

  void owner() {
    if (any_of(2) && join_.finished()) {
      go_on();
      return;
    }
    waiter_.context = 1;
    if (!join_.wait(waiter_)) {
      waiter_.context = 2;  // no other thread looks at it now
      go_on();
    }
  }

  void thief() {
    check(join_.body() == &body, "the thief finds the function, whether or not the owner waits");
    work_ = 1;
    fj::detail::join_waiter* const found = join_.arrive(outcome::threw);
    if (!found) return;
    check(found == &waiter_, "the thief finds the owner's waiter");
    check(waiter_.context == 1, "the context was saved");
    waiter_.context = 3;
    go_on();
  }

  void go_on() {
    ++went_on_;
    check(work_ == 1, "the stolen part has been done");
    check(join_.result() == outcome::threw, "the outcome is the thief's");
    work_ = 2;  // the frame is gone
  }

  join join_{&body};
  plain<int> work_{0};
  waiter waiter_;
  int went_on_ = 0;
};

}  // namespace

const named_scenario scenarios[] = {
    {"join", 1'000'000, &make<meeting>},
    {},
};

}  // namespace model
