// Preemption: a monitor asks strands that keep their P for long to give way, while they fork, end, begin blocking
// calls, and go on elsewhere. What a strand does between its forks is the model's.

#include <cstdint>
#include <optional>

#include "test/model/scheduler.hpp"

#include "runtime/sched/monitor_rules.hpp"

namespace model {
namespace {

using time_slices = fj::detail::time_slices;

/// What is told apart: how many P there are; whether strands make blocking calls; whether a strand that has given way
/// goes on for ever.
struct setting {
  unsigned procs = 1;
  bool calls = false;
  bool for_ever = false;
  bool eager = false;
};

struct branch : record {
  plain<int> work{0};  // written before the fork, read by the thief
  // Known outside of the model's memory.
  bool forked = false;
  bool kept = false;  // private, in the deque of a strand that gave way and has not gone on
  int runs = 0;
};

/// A strand with branches that stay open to its end, and some that it joins at once.
struct strand {
  static constexpr unsigned most = 5;

  unsigned pushes() const { return open + 2 * at_once; }

  fiber here;
  plain<unsigned> step{0};
  branch branches[most];
  // Known outside of the model's memory.
  unsigned open = 0, at_once = 0, used = 0;
  unsigned stolen = 0;  // of the branches so many have been joined without their records
  bool runs = false, gave_way = false, over = false, made = false, works_on = false;
};

template <setting with>
class preempted_strands : public scheduling_scenario, private steps {
 public:
  preempted_strands() {
    for (auto& d : deques_) d.emplace(never_pushed_, with.eager);
    for (unsigned i = 0; i < with.procs; ++i) {
      scheduler_.all()[i].active.store(&take_from_pool()->records, std::memory_order_relaxed);
      scheduler_.all()[i].spare_deque = &take_from_pool()->records;
    }
    for (strand& s : strands_) {
      s.here.whose = &whole_;
      if (with.for_ever) {
        s.open = &s == &strands_[0];
        continue;
      }
      s.open = any_of(3);
      s.at_once = any_of(strand::most - s.open + 1);
    }
    strands_[0].made = true;
    go().park(scheduler_.thread(2));
    go().take_processor(scheduler_.thread(0), scheduler_.all()[0]);
  }

  void thread(unsigned index) override {
    worker& m = scheduler_.thread(index);
    if (index == 1) return monitor();
    m.run([&] {
      if (index == 0) worker_loop::execute(m, &strands_[0].here);
      worker_loop::run(m, index == 0 ? after_park::work : after_park::sleep);
    });
  }

  void after() override {
    bool any_rests = false;
    unsigned held = 0;
    for (unsigned i = 0; i < threads; ++i) {
      any_rests |= scheduler_.thread(i).rests;
      held += scheduler_.thread(i).proc != nullptr;
    }
    if (!any_rests || held == with.procs) return;
    check(!go().any_ready(), "nothing is ready while a worker sleeps");
    for (const strand& s : strands_) {
      check(!s.made || s.over || s.works_on, "every strand ends");
      for (const branch& b : s.branches) check(b.runs == b.forked, "every record is run once");
    }
  }

 private:
  using pooled_deque = std::optional<deque_with_slots<strand::most>>;

  dispatcher& go() { return scheduler_.dispatcher(); }
  static deque& active(worker& m) { return *m.proc->active.load(std::memory_order_relaxed); }
  unsigned number_of(const processor& p) { return static_cast<unsigned>(&p - &scheduler_.all()[0]); }

  // The system refuses memory when there are no more.
  deque_with_slots<strand::most>* take_from_pool() { return pooled_ < deques ? &*deques_[pooled_++] : nullptr; }
  bool prepare(worker& m) {
    if (m.proc->spare_deque) return true;
    deque_with_slots<strand::most>* const other = take_from_pool();
    if (other) m.proc->spare_deque = &other->records;
    return other;
  }

  // A monitor that learns of each run, now and then: then what it asks is heard at the next fork. Or one that asks at
  // any time.
  void monitor() {
    if (with.for_ever) {
      for (unsigned i = 0; i < with.procs; ++i) {
        auto& p = scheduler_.all()[i];
        time_slices::ask(p, p.yield_request, p.runs);
      }
      return;
    }
    fj::detail::monitor_rules rules(with.procs);
    for (unsigned looks = 2 + any_of(4); looks > 0; --looks) {
      std::uint32_t known[with.procs] = {};
      for (unsigned i = 0; i < with.procs; ++i)
        if (any_of(2)) known[i] = goes_on_[i].load(std::memory_order_acquire);
      rules.look(scheduler_, now_ns());
      for (unsigned i = 0; i < with.procs; ++i) {
        const std::uint32_t asked = scheduler_.all()[i].yield_request.asked;
        check(asks_for_soon_ || asked <= seen_[i], "a run is asked that was there at the look before");
        seen_[i] = scheduler_.all()[i].runs.newest;
        if (!asks_for_soon_ && asked && asked == known[i]) sounded_[i].store(asked, std::memory_order_release);
      }
    }
  }

  // What fibers do.

  fiber* run(worker& m, fiber& f) override {
    const unsigned p = number_of(*m.proc);
    check(m.proc->runs == ++begun_[p], "every run is counted");
    check(!taken_[p], "a P has one strand");
    taken_[p] = true;
    if (with.for_ever) linger();
    active_deque::install(m, f);
    active(m).set_exceptions(nullptr);
    goes_on_[p].store(begun_[p], std::memory_order_release);
    if (f.stolen.record) {
      branch& b = static_cast<branch&>(*f.stolen.record);
      f.stolen.record = nullptr;
      check(b.work.get() == 1, "what is stolen is there");
      check(!b.kept, "a strand that gives way keeps its private records");
      check(b.runs++ == 0, "no record is run twice");
      taken_[p] = false;
      return nullptr;
    }
    strand& s = &f == &strands_[0].here ? strands_[0] : strands_[1];
    check(!s.runs && !s.over, "a strand runs once at a time");
    s.runs = true;
    for (branch& b : s.branches) b.kept = false;
    if (with.for_ever && s.gave_way) {
      s.works_on = true;
      linger();
      m.end();
    }
    return go_on(m, s);
  }

  // Whether the strand left its stack, and what its worker does next.
  struct left {
    explicit operator bool() const { return has_left; }
    bool has_left = false;
    fiber* next = nullptr;
  };

  // A worker may be slow after its last look; and what a strand that works for ever has stored may be unseen for long,
  // but the end of a thread fences. By chance alone both would be rare.
  void before_park() override {
    if (with.for_ever) linger();
  }
  static void linger() {
    for (unsigned left = any_of(2) * 60; left > 0; --left) pause();
  }

  // Returns what follows when the strand leaves.
  fiber* go_on(worker& m, strand& s) {
    for (;;) {
      const unsigned step = s.step;
      s.step = step + 1;
      if (step == 0 && &s == &strands_[0]) {
        strands_[1].made = with.for_ever ? any_of(4) == 0 : any_of(4) != 0;
        if (strands_[1].made) make_ready(m, strands_[1].here);
      }
      const bool pushes = step < s.open || (step < s.pushes() && (step - s.open) % 2 == 0);
      if (pushes) {
        if (const left away = push(m, s)) return away.next;
      } else if (step < s.pushes()) {
        join(m, s, s.used - 1);
      } else if (step == s.pushes()) {
        // Before operations on channels or locks.
        for (unsigned operations = any_of(with.for_ever ? 8 : 3); operations > 0; --operations) {
          if (is_asked(m))
            if (const left away = give_way(m, s)) return away.next;
          pause();
        }
      } else if (step == s.pushes() + 1) {
        if (with.calls && any_of(2))
          if (const left away = block(m, s)) return away.next;
      } else {
        break;
      }
    }
    for (unsigned i = s.open; i-- > 0;) join(m, s, i);
    s.over = true;
    leaves(m, s);
    return nullptr;
  }

  void make_ready(worker& m, fiber& f) {
    switch (any_of(3)) {
      case 0:
        return local_queue::ready(m, f);
      case 1:
        return go().ready(f);
      default:
        // As a timer that its worker fired. It may ask a strand itself.
        asks_for_soon_ = true;
        return go().ready_soon(f);
    }
  }

  void leaves(worker& m, strand& s) {
    s.runs = false;
    taken_[number_of(*m.proc)] = false;
  }

  left push(worker& m, strand& s) {
    const unsigned p = number_of(*m.proc);
    branch& b = s.branches[s.used++];
    b.work = 1;
    b.forked = true;
    const bool must = sounded_[p].load(std::memory_order_acquire) == m.proc->runs && prepare(m);
    deque& d = active(m);
    if (d.push(b, deque::name_of(b)) && preemption::finish_push(m, d, nullptr)) {
      check_asked(m);
      if (const left away = give_way(m, s)) return away;
    }
    check(!must, "a strand gives way at its next fork when it is asked");
    return {};
  }

  bool is_asked(worker& m) {
    const bool asked = preemption::is_asked(m);
    if (asked) check_asked(m);
    return asked;
  }
  static void check_asked(worker& m) {
    check(m.proc->yield_request.was_asked(m.proc->runs), "a strand that gives way was asked");
  }

  left give_way(worker& m, strand& s) {
    if (!prepare(m) || !preemption::prepare(m)) return {};
    constexpr auto mark = ~(~fj::detail::record_name{0} >> 1);  // of a public record's link
    for (branch& b : s.branches)
      b.kept = b.forked && b.runs == 0 && !with.eager && !(b.older.load(std::memory_order_relaxed) & mark);
    s.gave_way = true;
    leaves(m, s);
    return {true, active_deque::leave(m, s.here)};
  }

  void join(worker& m, strand& s, unsigned which) {
    if (which < s.stolen) return;
    branch& b = s.branches[which];
    deque& d = active(m);
    if (d.pop(b) || owner_steps::take_back(m, d, b)) {
      check(b.runs++ == 0, "no record is run twice");
    } else {
      s.stolen = which + 1;  // with all that were in the deque before it
      owner_steps::after_stolen_join(d);
    }
  }

  left block(worker& m, strand& s) {
    prepare(m);
    const bool may_lose = blocking_protocol::prepare(m, active(m), nullptr);
    leaves(m, s);
    const fj::detail::begun_call begun = blocking_protocol::begin(m, s.here, may_lose, any_of(4) == 0);
    pause();
    if (blocking_protocol::end(m, begun)) {
      const unsigned p = number_of(*m.proc);
      check(!s.runs && !taken_[p], "a strand that has its P has it alone");
      s.runs = taken_[p] = true;
      return {};
    }
    m.then = &go_on_with_processor;
    m.argument = begun.had;
    return {true, active_deque::leave(m, s.here)};
  }
  static fiber* go_on_with_processor(worker& m, fiber& f, void* had) {
    return blocking_protocol::go_on(m, f, *static_cast<processor*>(had));
  }

  static constexpr unsigned deques = 2 * with.procs + 6;

  job whole_;
  branch never_pushed_;
  strand strands_[2];
  pooled_deque deques_[deques];
  scheduler scheduler_{with.procs, with.eager, 0};
  os::atomic<std::uint32_t> goes_on_[with.procs], sounded_[with.procs];  // runs
  // Known outside of the model's memory.
  unsigned pooled_ = 0;
  std::uint32_t begun_[with.procs] = {}, seen_[with.procs] = {};
  bool taken_[with.procs] = {};
  bool asks_for_soon_ = false;
};

}  // namespace

const named_scenario scenarios[] = {
    {"preempt", 100'000, &make<preempted_strands<setting{}>>},
    {"preempt_two", 100'000, &make<preempted_strands<setting{.procs = 2}>>},
    {"preempt_calls", 100'000, &make<preempted_strands<setting{.procs = 2, .calls = true}>>},
    {"preempt_for_ever", 100'000, &make<preempted_strands<setting{.procs = 2, .for_ever = true}>>},
    {"preempt_for_ever_eager", 100'000, &make<preempted_strands<setting{.procs = 2, .for_ever = true, .eager = true}>>},
    {},
};

}  // namespace model
