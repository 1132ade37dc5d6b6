// The queue of one P's ready fibers: its owner puts entries in and takes them, thieves take half of the ring, or what
// runs next.

#include "test/model/scenario.hpp"

#include "runtime/sched/run_queue.hpp"

namespace model {
namespace {

struct entry {
  plain<int> work{0};  // written before the entry is put in, read by the taker
  int taken = 0;       // known outside of the model's memory
};

constexpr unsigned capacity = 2;

class run_queue : public scenario {
 public:
  void thread(unsigned index) override { index == 0 ? owner() : thief(); }

  void after() override {
    for (const entry& e : all_) check(e.taken == 1, "every entry is taken once");
  }

 private:
  static constexpr unsigned count = 6;

  void owner() {
    for (entry& e : all_) {
      e.work = 1;
      entry* out = any_of(2) ? queue_.put_next(e) : &e;
      while (out && !queue_.put(*out)) take_half();
      if (any_of(3) == 0) take(queue_.take_next());
      if (any_of(3) == 0) take(queue_.take());
    }
    take(queue_.take_next());
    while (entry* const e = queue_.take()) take(e);
    check(queue_.empty(), "no thief puts anything in");
  }

  void thief() {
    for (unsigned i = 0; i < 3; ++i) {
      if (any_of(3) == 0) {
        take(queue_.take_next());
      } else {
        take_half();
      }
    }
  }

  void take_half() {
    const auto got = queue_.take_half();
    for (entry* const e : got.entries()) take(e);
  }

  static void take(entry* e) {
    if (!e) return;
    check(e->work == 1, "what was written before is there");
    e->work = 2;
    check(e->taken++ == 0, "no entry is taken twice");
  }

  fj::detail::run_queue<entry, capacity> queue_;
  entry all_[count];
};

}  // namespace

const named_scenario scenarios[] = {
    {"run_queue", 500'000, &make<run_queue>},
    {},
};

}  // namespace model
