// The join: the strand of an owner and that of a thief meet, and one of them goes on with all that both did.

#include "test/model/strands.hpp"

#include "forkjoin/abi/join.hpp"
#include "runtime/strand/wait_at_join.hpp"

namespace fj { inline namespace v0_4 { namespace detail {
struct continuation {};
}}}  // namespace fj::v0_4::detail

namespace model {
namespace {

using fj::detail::join;
using fj::detail::outcome;

[[gnu::aligned(16)]] outcome body(fj::detail::continuation&) noexcept { return outcome::returned; }

class meeting : public strands_scenario {
 public:
  meeting() { unfinished_ = 2; }

  void thread(unsigned index) override {
    if (index == 0) execute(&begin(owner_));
    if (index == 1) execute(&begin(thief_));
    if (index < 2) --unfinished_;
    work();
  }

  void after() override { check(went_on_ == 1, "the owner goes on after the join, once"); }

 private:
  // The worker, too, sees what the thief wrote, as soon as wait has told it that the thief was first.
  void did_not_wait() override { check(work_ == 1, "the thief that came first has done its part"); }

  struct owner {
    void operator()() {
      fj::detail::wait_until_finished(of->join_);
      of->go_on();
      strand_hooks::end_strand(nullptr);
    }
    meeting* of;
  };

  struct thief {
    void operator()() {
      check(of->join_.body() == &body, "the thief finds the function, whether or not the owner waits");
      of->work_ = 1;
      strand_hooks::end_strand(static_cast<strand*>(of->join_.arrive(outcome::threw)));
    }
    meeting* of;
  };

  void go_on() {
    ++went_on_;
    check(work_ == 1, "the stolen part has been done");
    check(join_.result() == outcome::threw, "the outcome is the thief's");
    work_ = 2;  // the frame is gone
  }

  owner owner_{this};
  thief thief_{this};
  join join_{&body};
  plain<int> work_{0};
  int went_on_ = 0;
};

}  // namespace

const named_scenario scenarios[] = {
    {"join", 1'000'000, &make<meeting>},
    {},
};

}  // namespace model
