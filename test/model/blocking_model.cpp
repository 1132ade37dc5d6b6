// Blocking calls: strands begin and end them, while another thread takes their P, and workers come for what there is.
// What the threads do are the runtime's loop and rules; the model's own is what the strands do (`run`), and when the
// monitor looks.

#include <optional>
#include <utility>

#include "test/model/scenario.hpp"
#include "test/model/scheduler.hpp"

namespace model {
namespace {

/// What is told apart: how many P there are, and how many calls the first strand makes.
struct setting {
  unsigned procs = 1;
  unsigned calls = 1;
  bool eager = false;
};

/// A record that the first strand has in its deque during its calls.
struct branch : record {
  plain<int> work{0};  // written before the fork, read by the thief
  // Known outside of the model's memory.
  bool forked = false;
  int runs = 0;
};

template <setting with>
class blocking_strands : public scheduling_scenario, private steps {
 public:
  blocking_strands() {
    for (auto& d : deques_) d.emplace(never_pushed_, with.eager);
    for (unsigned i = 0; i < with.procs; ++i) {
      scheduler_.all()[i].active.store(&deques_[i]->records, std::memory_order_relaxed);
      scheduler_.all()[i].spare_deque = &deques_[with.procs + i]->records;
    }
    strand_.whose = other_.whose = &whole_;
    go().park(scheduler_.thread(2));
    go().take_processor(scheduler_.thread(0), scheduler_.all()[0]);
  }

  void thread(unsigned index) override {
    worker& m = scheduler_.thread(index);
    if (index == 1) return monitor();
    m.run([&] {
      if (index == 0) worker_loop::execute(m, &strand_);
      worker_loop::run(m, index == 0 ? after_park::work : after_park::sleep);
    });
  }

  void after() override {
    bool any_rests = false, any_idle = false;
    for (unsigned i = 0; i < threads; ++i) {
      check(!scheduler_.thread(i).proc, "every P is given up");
      any_rests |= scheduler_.thread(i).rests;
    }
    for (unsigned i = 0; i < with.procs; ++i)
      any_idle |= scheduler_.all()[i].blocking.now() == 0 && &scheduler_.all()[i] != kept_;
    if (!any_rests || !any_idle) return;  // a call that never returns has the P, or the thread
    check(!go().any_ready(), "nothing is ready while a worker sleeps");
    check(ends_ + stays_ == 1u + other_made_, "every strand ends");
    for (const branch& b : branches_) check(b.runs == b.forked, "every record is run once");
  }

 private:
  static constexpr unsigned records = 2;

  dispatcher& go() { return scheduler_.dispatcher(); }
  static deque& active(worker& m) { return *m.proc->active.load(std::memory_order_relaxed); }

  /// While one lives, a strand uses the P of its worker.
  class running {
   public:
    running(blocking_strands& all, worker& m) : on_(all.taken_[m.proc - &all.scheduler_.all()[0]]) {
      check(!on_, "a P has one strand");
      on_ = true;
    }
    ~running() { on_ = false; }

   private:
    bool& on_;
  };

  // The monitor looks at all P a few times. As it takes P by what it saw at the last look, it may be late by a call.
  void monitor() {
    std::uint64_t seen[with.procs] = {};
    for (unsigned looks = 0; looks < 2; ++looks)
      for (unsigned i = 0; i < with.procs; ++i) {
        processor& p = scheduler_.all()[i];
        if (seen[i] != 0 && any_of(2)) {
          go().retake(p, seen[i], waker::sleeps, any_of(2));
        } else if ((seen[i] = p.blocking.now()) != 0 && any_of(2)) {
          go().retake(p, seen[i], waker::sleeps, any_of(2));
        }
      }
  }

  fiber* run(worker& m, fiber& f) override {
    if (f.stolen.record) return run_stolen(m, f);
    {
      const running alone(*this, m);
      active_deque::install(m, f);
    }
    const bool begins = !std::exchange(&f == &strand_ ? begun_ : other_begun_, true);
    if (&f == &strand_) {
      if (begins) begin(m);
      return go_on(m);
    }
    if (begins && any_of(3) == 0) stay(m);
    if (begins)
      if (const left away = block(m, other_)) return away.next;
    ++ends_;
    return nullptr;
  }

  fiber* run_stolen(worker& m, fiber& f) {
    const running alone(*this, m);
    branch& b = static_cast<branch&>(*f.stolen.record);
    f.stolen.record = nullptr;
    check(b.work.get() == 1, "what is stolen is there");
    check(b.runs++ == 0, "no record is run twice");
    return nullptr;
  }

  // The first strand forks, makes its calls, and joins. The worker may be without a P afterwards.

  void begin(worker& m) {
    const running alone(*this, m);
    for (unsigned n = any_of(records + 1); used_ < n; ++used_) {
      branch& b = branches_[used_];
      b.work = 1;
      b.forked = true;
      if (active(m).push(b, deque::name_of(b))) owner_steps::answer_request(m, active(m), nullptr);
    }
    calls_ = with.calls;
    other_made_ = any_of(2);
    if (other_made_) local_queue::ready(m, other_);
  }

  fiber* go_on(worker& m) {
    while (calls_ > 0) {
      calls_ = calls_ - 1;
      if (const left away = block(m, strand_)) return away.next;
    }
    const running alone(*this, m);
    for (unsigned i = used_; i-- > 0;) {
      branch& b = branches_[i];
      if (active(m).pop(b) || owner_steps::take_back(m, active(m), b)) {
        check(b.runs++ == 0, "no record is run twice");
      } else {
        break;  // stolen, and so are all before it
      }
    }
    used_ = 0;
    ++ends_;
    return nullptr;
  }

  // Whether the strand left its stack in the call, and what its worker does next.
  struct left {
    explicit operator bool() const { return has_left; }
    bool has_left = false;
    fiber* next = nullptr;
  };

  fj::detail::begun_call begin_call(worker& m, fiber& f) {
    bool may_lose = false;
    {
      const running alone(*this, m);
      may_lose = blocking_protocol::prepare(m, active(m), nullptr);
    }
    return blocking_protocol::begin(m, f, may_lose, any_of(3) == 0);
  }

  left block(worker& m, fiber& f) {
    const fj::detail::begun_call begun = begin_call(m, f);
    pause();
    if (!blocking_protocol::end(m, begun)) return {true, blocking_protocol::go_on(m, f, *begun.had)};
    const running alone(*this, m);
    check(!f.records, "a strand that has its P has its deque");
    return {};
  }

  // A call that never returns.
  [[noreturn]] void stay(worker& m) {
    stays_ = true;
    const fj::detail::begun_call begun = begin_call(m, other_);
    if (begun.number == 0) kept_ = begun.had;
    m.end();
  }

  job whole_;
  fiber strand_, other_;
  branch never_pushed_;
  branch branches_[records];
  std::optional<deque_with_slots<records>> deques_[2 * with.procs];
  scheduler scheduler_{with.procs, with.eager, 0};
  plain<unsigned> calls_{0};
  unsigned used_ = 0, ends_ = 0;
  bool begun_ = false, other_begun_ = false, other_made_ = false, stays_ = false;
  processor* kept_ = nullptr;  // its strand never comes back, and had no other deque for the next
  bool taken_[with.procs] = {};
};

}  // namespace

const named_scenario scenarios[] = {
    {"blocking", 400'000, &make<blocking_strands<setting{.calls = 2}>>},
    {"blocking_two", 300'000, &make<blocking_strands<setting{.procs = 2}>>},
    {"blocking_eager", 200'000, &make<blocking_strands<setting{.calls = 2, .eager = true}>>},
    {},
};

}  // namespace model
