// Blocking calls: strands begin and end them, while another thread takes their P, and workers come for what there is. What the
// threads call are the runtime's rules; what stands around these in runtime/workers/blocking.cpp and thread_main.cpp is retold
// here: block and work.

#include <optional>

#include "test/model/scenario.hpp"
#include "test/model/system.hpp"

namespace model {
namespace {

using search = fj::detail::basic_search<system>;

/// What is told apart: how many P there are, and how many calls the first strand makes.
struct setting {
  unsigned procs = 1;
  unsigned calls = 1;
  bool eager = false;
};

/// A record that the first strand has in its deque during its calls.
struct branch : deque::record {
  plain<int> work{0};  // written before the fork, read by the thief
  // Known outside of the model's memory.
  bool forked = false;
  int runs = 0;
};

template <setting with>
class blocking_strands : public scenario {
 public:
  blocking_strands() {
    for (auto& d : deques_) d.emplace(never_pushed_, with.eager);
    for (unsigned i = 0; i < with.procs; ++i) {
      scheduler_.all()[i].active.store(&deques_[i]->records, std::memory_order_relaxed);
      scheduler_.all()[i].spare_deque = &deques_[with.procs + i]->records;
    }
    strand_.whose = other_.whose = &whole_;
    go().park(scheduler_.thread(2));
    go().enter(scheduler_.thread(0), strand_);
  }

  void thread(unsigned index) override {
    worker& m = scheduler_.thread(index);
    if (index == 1) return monitor();
    m.run([&] {
      if (index == 0) begin(m);
      work(m, index == 0 ? after_park::work : after_park::sleep);
    });
  }

  void after() override {
    bool any_rests = false, any_idle = false;
    for (unsigned i = 0; i < threads; ++i) {
      check(!scheduler_.thread(i).proc, "every P is given up");
      any_rests |= scheduler_.thread(i).rests;
    }
    for (unsigned i = 0; i < with.procs; ++i) any_idle |= scheduler_.all()[i].blocking.now() == 0;
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

  void work(worker& m, after_park next) {
    for (;;) {
      if (next == after_park::sleep) {
        m.sleep();
        next = go().awake(m);
        if (next == after_park::work) system::placed(m);
      } else {
        for (fiber* f = nullptr; m.proc && (f = search::find_work(m));)
          if (!execute(m, *f)) return;
        check(go().ready_count() <= 4, "no entry leaves the ready queue twice");
        next = go().park(m);
      }
    }
  }

  // False if the worker stays in a call.
  bool execute(worker& m, fiber& f) {
    if (f.stolen.record) {
      const running alone(*this, m);
      branch& b = static_cast<branch&>(*f.stolen.record);
      f.stolen.record = nullptr;
      check(b.work.get() == 1, "what is stolen is there");
      check(b.runs++ == 0, "no record is run twice");
    } else if (&f == &other_) {
      {
        const running alone(*this, m);
        active(m).open(&whole_);
      }
      if (any_of(3) == 0) return stay(m);
      if (block(m, other_)) ++ends_;
    } else {
      resumed(m);
    }
    return true;
  }

  bool stay(worker& m) {
    stays_ = true;
    processor& p = *m.proc.replace(nullptr);
    const std::uint64_t call = p.blocking.begin(other_);
    if (any_of(2)) go().retake(p, call, waker::sleeps, any_of(2));  // as blocking_now
    return false;
  }

  // The first strand forks, makes its calls, and joins. The worker may be without a P afterwards.
  void begin(worker& m) {
    {
      const running alone(*this, m);
      active(m).open(&whole_);
      for (unsigned n = any_of(records + 1); used_ < n; ++used_) {
        branch& b = branches_[used_];
        b.work = 1;
        b.forked = true;
        if (active(m).push(b, deque::name_of(b))) owner::answer_alarm(m, active(m), nullptr);
      }
      calls_ = with.calls;
      other_made_ = any_of(2);
      if (other_made_) local_queue::ready(m, other_);
    }
    go_on(m);
  }

  void resumed(worker& m) {
    {
      const running alone(*this, m);
      if (deque* const empty = left_records::take_back(m, strand_)) {
        if (!m.proc->spare_deque) m.proc->spare_deque = empty;
      } else {
        active(m).open(&whole_);
      }
    }
    go_on(m);
  }

  void go_on(worker& m) {
    while (calls_ > 0) {
      calls_ = calls_ - 1;
      if (!block(m, strand_)) return;
    }
    const running alone(*this, m);
    for (unsigned i = used_; i-- > 0;) {
      branch& b = branches_[i];
      if (active(m).pop(b) || owner::take_back(m, active(m), b)) {
        check(b.runs++ == 0, "no record is run twice");
      } else {
        break;  // stolen, and so are all before it
      }
    }
    used_ = 0;
    ++ends_;
  }

  // As blocking_call. False if the strand leaves its stack: a worker calls execute with it.
  bool block(worker& m, fiber& f) {
    processor* p = nullptr;
    std::uint64_t call = 0;
    {
      const running alone(*this, m);
      if (active(m).has_private()) active(m).publish_all(nullptr);
      if (!m.proc->spare_deque) return true;  // no memory
      p = m.proc.replace(nullptr);
    }
    call = p->blocking.begin(f);
    pause();
    if (p->blocking.end(call)) {
      m.proc = p;
      const running alone(*this, m);
      check(!f.records, "a strand that has its P has its deque");
      return true;
    }
    if (go().take_processor(m, *p)) {
      if (&f == &strand_) {
        resumed(m);
      } else {
        active(m).open(&whole_);
        ++ends_;
      }
      return false;
    }
    go().ready(f);
    return false;
  }

  root whole_;
  fiber strand_, other_;
  branch never_pushed_;
  branch branches_[records];
  std::optional<deque_with_slots<records>> deques_[2 * with.procs];
  scheduler scheduler_{with.procs, with.eager, 0};
  plain<unsigned> calls_{0};
  unsigned used_ = 0, ends_ = 0;
  bool other_made_ = false, stays_ = false;
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
