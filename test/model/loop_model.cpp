// A loop of forks: its home strand and thieves run the iterations, each thief may lose its rest to the next, and all
// meet at one join. An iteration that a thief runs may throw; then no iteration after it starts.

#include <algorithm>
#include <cstddef>
#include <optional>

#include "test/model/deque.hpp"
#include "test/model/scheduler.hpp"
#include "test/model/strands.hpp"

#include "forkjoin/abi/counting_join.hpp"
#include "forkjoin/detail/first_error.hpp"
#include "forkjoin/detail/loop_of_iterations.hpp"
#include "runtime/strand/loop_protocol.hpp"

namespace model {
namespace {

constexpr std::size_t count = 4;  // of iterations
constexpr unsigned workers = 3;

struct forks;

struct loop_rest : record {
  explicit loop_rest(forks& whose) : of(whose) {}
  forks& of;
  plain<std::size_t> next{0};
};

/// What the strands of the loop use: the deque of the worker that they run on.
class looping_strands : public strands_scenario {
 public:
  explicit looping_strands(bool eager)
      : deques_{{never_pushed_, eager}, {never_pushed_, eager}, {never_pushed_, eager}}, scheduler_(workers, eager, 0) {
    for (unsigned i = 0; i < workers; ++i) {
      scheduler_.all()[i].active.store(&deques_[i].records, std::memory_order_relaxed);
      scheduler_.dispatcher().take_processor(scheduler_.thread(i), scheduler_.all()[i]);
    }
    looping_ = this;
  }

  // As of scheduling_scenario.
  std::int64_t now_ns() override { return clock_ += any_of(2) ? 1 : 1'000'000'000; }

  struct loop_steps {
    /// Lies in the frame of a thief, which is used for something else afterwards.
    struct loop_stand_in {
      explicit loop_stand_in(record& rest) : pushed(looping_->stand_ins_[looping_->stand_ins_used_++]) {
        pushed.stands_for = &rest;
      }
      ~loop_stand_in() {
        pushed.stands_for = &looping_->never_pushed_;
        pushed.older.store(deque::name_of(looping_->never_pushed_), std::memory_order_relaxed);
      }
      record_stand_in& pushed;
    };

    static strand& running() { return looping_->current_strand(); }
    static void offer(loop_rest&, loop_stand_in& offered) { push(offered.pushed); }
    static void offer(loop_rest&, record& itself) { push(itself); }
    static void count_wait() {}
    static bool take_back(loop_stand_in& offered) { return pop(offered.pushed); }
    static bool take_back(record& itself) { return pop(itself); }

    template <class Pushed>
    static void push(Pushed& pushed) {
      deque& d = looping_->here();
      if (d.push(pushed, deque::name_of(pushed))) owner_steps::answer_request(looping_->this_worker(), d, nullptr);
    }
    template <class Pushed>
    static bool pop(const Pushed& pushed) {
      deque& d = looping_->here();
      return d.pop(pushed) || owner_steps::take_back(looping_->this_worker(), d, pushed);
    }
  };

 protected:
  worker& this_worker() { return scheduler_.thread(rl::thread_index()); }
  deque& here() { return deques_[rl::thread_index()].records; }

  record never_pushed_;
  deque_with_slots<count> deques_[workers];
  scheduler scheduler_;

 private:
  std::int64_t clock_ = 1'000'000'000;
  record_stand_in stand_ins_[count + 1];
  unsigned stand_ins_used_ = 0;

  static inline looping_strands* looping_ = nullptr;
};

using loop_steps = looping_strands::loop_steps;
using protocol = fj::detail::loop_protocol<loop_steps>;

/// As fork_loop and loop_of_forks, without exceptions: all threads of the model are one of the system's, which has one
/// stack of handlers.
struct forks {
  explicit forks(std::size_t iterations) : count(iterations), rest(*this) { made = this; }
  ~forks() {
    if (is_stolen) stolen_rest.~loop_rest();
  }

  virtual bool start_stolen(std::size_t iteration) noexcept = 0;
  virtual bool run_stolen(std::size_t iteration) noexcept = 0;
  bool begin_stolen() {
    check(!is_stolen, "one thief makes the record that all share");
    is_stolen = true;
    return true;
  }

  void next_is(std::size_t iteration) { rest.next = iteration; }
  bool offer() {
    loop_steps::push(rest);
    return true;
  }
  bool take_back() { return loop_steps::pop(rest); }
  bool keep_exception() { return false; }  // no iteration of the home strand throws
  void join_iterations() { protocol::join_from(*this, rest.next); }
  void throw_first() {}

  bool run_unless_thrown(std::size_t iteration, const auto& run) {
    if (errors.any_before(iteration)) return false;
    run();
    if (!may_throw || any_of(4) != 0) return true;
    first_thrown = std::min(first_thrown, iteration);
    errors.offer(iteration, iteration);
    return false;
  }

  const std::size_t count;
  loop_rest rest;
  union {
    loop_rest stolen_rest;
  };
  fj::detail::counting_join joined;
  plain<strand*> home{nullptr};
  fj::detail::first_error<std::size_t> errors;  ///< which iteration
  const bool may_throw = any_of(3) == 0;
  // Known outside of the model's memory.
  bool is_stolen = false;
  std::size_t first_thrown = model::count;
  static inline forks* made = nullptr;
};

template <bool eager>
class looping : public looping_strands {
 public:
  looping() : looping_strands(eager) {
    for (thief& t : thieves_) t.whose = this;
    unfinished_ = 1;
  }

  void thread(unsigned index) override {
    if (index == 0) {
      here().open(&job_);
      execute(&begin(at_home_));
      --unfinished_;
    }
    while (unfinished_ != 0) {
      run_posted();
      steal(index);
      pause();
    }
  }

  void after() override { check(ends_ == 1, "the home strand goes on, once"); }

 private:
  struct iterations {
    void start(std::size_t iteration) const { of->start(iteration); }
    void operator()(std::size_t iteration) const { of->run(iteration); }
    looping* of;
  };

  struct at_home {
    void operator()() { whose->run_at_home(); }
    looping* whose;
  };

  struct thief {
    void operator()() {
      whose->here().open(&whose->job_);
      forks& loop = rest->of;
      protocol::end_thief(loop, protocol::go_on_with(*rest));
    }
    looping* whose = nullptr;
    loop_rest* rest = nullptr;
  };

  void run_at_home() {
    loop_.emplace(count, iterations{this});
    forks& loop = *forks::made;
    if (any_of(4) == 0) {
      protocol::run_as_stolen(loop);
    } else {
      loop_->run(count, iterations{this});
    }
    const std::size_t expected = loop.first_thrown;
    check(loop.errors.thrown() == (expected != count), "the join knows whether an iteration has thrown");
    if (expected != count)
      check(loop.errors.take([] { return count; }) == expected, "the first that throws is the loop's");
    for (std::size_t i = 0; i < count; ++i) {
      check(iterations_[i].done || i >= expected, "all iterations have been run");
      iterations_[i].done = 2;
    }
    ++ends_;
    // The frame is used for something else.
    loop.rest.next = count;
    if (loop.is_stolen) loop.stolen_rest.next = count;
    loop.home = nullptr;
    strand_hooks::end_strand(nullptr);
  }

  void start(std::size_t iteration) {
    check(started_ == iteration, "iterations start in order");
    started_ = iteration + 1;
  }

  void run(std::size_t iteration) {
    check(iterations_[iteration].done == 0, "no iteration is run twice");
    iterations_[iteration].done = 1;
  }

  void steal(unsigned index) {
    for (unsigned i = 0; i < workers; ++i) {
      if (i == index) continue;
      deque& victim = deques_[i].records;
      record* const record = victim.for_thieves().steal(nullptr).record;
      check(record != &never_pushed_, "what is stolen has been pushed");
      if (record) {
        check(thefts_ < count, "each theft is of an iteration");
        thief& t = thieves_[thefts_++];
        t.rest = static_cast<loop_rest*>(record);
        execute(&begin(t));
      }
      if (!eager) victim.request();
    }
  }

  job job_;
  at_home at_home_{this};
  thief thieves_[count];
  std::optional<fj::detail::basic_loop_of_iterations<forks, iterations>> loop_;
  plain<std::size_t> started_{0};
  struct {
    plain<int> done{0};
  } iterations_[count];
  // Known outside of the model's memory.
  unsigned thefts_ = 0;
  int ends_ = 0;
};

}  // namespace

const named_scenario scenarios[] = {
    {"loop", 40'000, &make<looping<false>>},
    {"loop_eager", 50'000, &make<looping<true>>},
    {},
};

}  // namespace model
