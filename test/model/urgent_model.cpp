// Urgent fibers: strands, urgent ones and a thread outside make fibers ready, strands that compute are asked to give
// way, and a monitor takes Ps from blocking calls. What a strand does in between is the model's; in which order workers
// take fibers, and whom a waker asks, is the library's.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "test/model/scheduler.hpp"

#include "runtime/sched/monitor_rules.hpp"

namespace model {
namespace {

namespace tuning = fj::detail::tuning;

struct setting {
  unsigned procs = 1;
  bool calls = false;  ///< whether urgent fibers make blocking calls
  bool waker = false;  ///< whether the thread outside wakes one fiber as a worker parks, and that one an urgent fiber
};

enum class where { waits, ready, runs, over };

struct actor {
  fiber here;
  os::atomic<int> left{0};
  // Known outside of the model's memory.
  where is = where::waits;
  bool has_called = false, blocks = false;
  unsigned steps = 0;                    ///< it has left
  const worker* by = nullptr;            ///< which knows that it is ready; or none that is told apart
  unsigned times = 0;                    ///< it has become ready
  std::uint64_t known_at = never_known;  ///< the moment at which the call that made it ready was over
  std::int64_t used = 0, began = 0;      ///< of its slice, and when its run has begun
  static constexpr std::uint64_t never_known = ~std::uint64_t{0};
  bool is_urgent() const { return here.urgent; }
};

template <setting with>
class urgent_fibers : public scheduling_scenario, private steps {
 public:
  urgent_fibers() {
    for (auto& d : deques_) d.emplace(never_pushed_, false);
    for (unsigned i = 0; i < with.procs; ++i) {
      scheduler_.all()[i].active.store(&deques_[2 * i]->records, std::memory_order_relaxed);
      scheduler_.all()[i].spare_deque = &deques_[2 * i + 1]->records;
    }
    for (unsigned i = 0; i < count; ++i) {
      const bool urgent = i >= others;
      whose_[i].urgent = all_[i].here.urgent = urgent;
      all_[i].here.whose = &whose_[i];
      all_[i].steps = with.waker ? 1 : i < computing ? 2 + any_of(2) : with.calls ? 1 : 1 + any_of(2);
    }
    go().note_cuts();
    for (unsigned i = 0; i < workers; ++i) {
      if (i < with.procs) {
        go().take_processor(scheduler_.thread(i), scheduler_.all()[i]);
        all_[i].is = where::ready;
      } else {
        go().park(scheduler_.thread(i));
      }
    }
  }

  // Steps that are too long for a worker that looks, but less than a slice, too.
  std::int64_t now_ns() override {
    constexpr std::int64_t steps[] = {1, 1'000'000, 1'000'000, 1'000'000'000};
    return clock_ += steps[any_of(4)];
  }

  void thread(unsigned index) override {
    worker& m = scheduler_.thread(index);
    if (index == workers) return outside();
    m.run([&] {
      const bool holds = index < with.procs;
      if (holds) worker_loop::execute(m, &all_[index].here);
      worker_loop::run(m, holds ? after_park::work : after_park::sleep);
    });
  }

  void after() override {
    for (unsigned i = 0; i < workers; ++i)
      if (!scheduler_.thread(i).rests) return;
    for (const actor& a : all_) check(a.is != where::ready, "nothing is ready while all workers sleep");
    check(!serving(), "nothing is served while all workers sleep");
  }

 private:
  static constexpr unsigned workers = threads - 1;
  static_assert(with.procs <= workers);
  static constexpr unsigned computing = 2, others = 4,
                            count = 7;         // numbers of fibers: of the first that is none of these
  static constexpr unsigned most_serving = 1;  // half of up to three

  dispatcher& go() { return scheduler_.dispatcher(); }
  static deque& active(worker& m) { return *m.proc->active.load(std::memory_order_relaxed); }

  unsigned serving() {
    unsigned now = 0;
    for (unsigned i = 0; i < with.procs; ++i) now += scheduler_.all()[i].urgent.runs();
    return now;
  }
  // How often a P has begun to serve, and to run at all.
  unsigned turns() {
    unsigned all = 0;
    for (unsigned i = 0; i < threads; ++i) all += scheduler_.thread(i).counts.urgent_turns.number;
    return all;
  }
  unsigned runs() {
    unsigned all = 0;
    for (unsigned i = 0; i < with.procs; ++i) all += scheduler_.all()[i].runs.newest;
    return all;
  }

  // What keeps a P from serving: others that serve, or the time that it has served.
  struct moment {
    unsigned turns, runs;
    bool may_serve;
    bool if_no_time_passes = false;
    std::uint64_t at = 0;
    bool operator==(const moment&) const = default;
  };

  // Of a P, the least time that it owes to other fibers: the library has it serve a little longer than the fibers run.
  struct account {
    bool has_served = false;
    std::int64_t owed = 0, since = 0;

    void pass_to(std::int64_t now) {
      owed = std::max<std::int64_t>(owed - (now - since), 0);
      since = now;
    }
    void serve_to(std::int64_t now) {
      owed += now - since;
      since = now;
    }
  };
  moment now(const processor& p) {
    return {turns(), runs(), serving() < most_serving && p.urgent.any_left(static_cast<std::uint64_t>(clock_))};
  }

  void before_park() override { parks_ = true; }

  void outside() {
    fj::detail::monitor_rules rules(with.procs);
    if (with.waker) wait_until([&] { return parks_; });
    for (unsigned acts = with.waker ? 1 : 2 + any_of(3); acts > 0; --acts) {
      switch (with.waker ? 1 : any_of(3)) {
        case 0:
          if (actor* const u = one_that_waits(others, count)) {
            make(*u, nullptr);
            call(*u, [&] { go().ready_urgent(u->here, nullptr); });
          }
          break;
        case 1:
          if (actor* const o = one_that_waits(computing, others)) {
            make(*o, nullptr);
            call(*o, [&] { go().ready(o->here); });
          }
          break;
        default:
          rules.look(scheduler_, now_ns());
      }
    }
  }

  actor* one_that_waits(unsigned first, unsigned end) {
    actor& chosen = all_[first + any_of(end - first)];
    return chosen.is == where::waits && chosen.steps > 0 ? &chosen : nullptr;
  }
  static void make(actor& a, const worker* by) {
    a.is = where::ready;
    a.by = by;
    a.known_at = actor::never_known;
    ++a.times;
    a.left.exchange(0, std::memory_order_acquire);  // what its last run wrote
  }
  // Has the strand made ready by a call.
  template <class Call>
  void call(actor& a, Call ready) {
    const unsigned times = a.times;
    ++calls_;
    ++calls_begun_;
    ready();
    --calls_;
    called_at_ = ++moments;
    if (a.times == times) a.known_at = called_at_;
  }
  // Whether an urgent one was in the queue at that moment, and is still.
  bool any_known(std::uint64_t at) const {
    for (const actor& u : all_)
      if (u.is_urgent() && u.is == where::ready && u.known_at < at && !u.here.whose->ready.empty()) return true;
    return false;
  }
  // Whether no P has served so far, nor is about to.
  bool none_served() {
    for (const actor& u : all_)
      if (u.is_urgent() && u.is == where::ready && u.here.whose->ready.empty()) return false;
    return turns() == 0;
  }
  // Whether it is in the queue, into which that worker has put it.
  static bool waits(const actor& u, const worker& m) {
    return u.is_urgent() && u.is == where::ready && u.by == &m && !u.here.whose->ready.empty();
  }
  bool any_waits(const worker& m) const {
    for (const actor& u : all_)
      if (waits(u, m)) return true;
    return false;
  }
  // Then all have time left, and slices are not over.
  bool no_time_has_passed() const { return clock_ - begun_at_ < tuning::slice_ns; }

  fiber* run(worker& m, fiber& f) override {
    processor& p = *m.proc;
    unsigned number = 0;
    while (&all_[number].here != &f) ++number;
    actor& a = all_[number];
    check(a.is == where::ready, "a fiber runs once each time that it becomes ready");
    check(serving() <= most_serving, "at most half of the P serve urgent fibers");
    account& time = time_[number_of(p)];
    time.pass_to(clock_);
    if (p.urgent.runs()) {
      check(a.is_urgent(), "a P that runs another fiber serves no urgent one");
      check(time.owed < tuning::slice_ns, "a P serves for half of its time at most, and for a slice at once");
      check(a.used < tuning::slice_ns, "an urgent strand whose slice is over goes behind the others");
      time.has_served = true;
    } else if (!a.is_urgent()) {
      const moment then = left_[number_of(m)];
      const bool may_serve = then.may_serve && (!then.if_no_time_passes || no_time_has_passed());
      for (const actor& u : all_) {
        // And no other P has served meanwhile.
        check(!waits(u, m) || !may_serve || serving() > 0 || turns() != then.turns, "urgent fibers go first");
      }
    } else {
      check(!p.queue.next(), "an urgent fiber beyond the bound goes after the others");
    }
    if (!a.is_urgent()) check_asked(m);
    a.is = where::runs;
    a.began = clock_;
    if (!p.urgent.runs()) a.used = 0;  // it may have gone behind the others, and begins a new slice
    runs_on_[number_of(p)] = &a;
    active_deque::install(m, f);
    active(m).set_exceptions(nullptr);
    return a.is_urgent() ? serve(m, a) : compute(m, a);
  }

  // A P that begins with another fiber while an urgent one waits is asked, or if it has no time left, the other P is.
  // The library's hints may be old, so this holds only where no thread can have read an old one: of the places, if no
  // other worker has served.
  void check_asked(const worker& m) {
    const processor& p = *m.proc;
    if (none_served() && any_known(p.runs.written_at))
      check(p.urgent_request.was_asked(p.runs.newest), "a run that begins while an urgent fiber waits is asked");
    const moment& left = left_[number_of(m)];
    if (with.procs != 2 || with.calls || left.at == 0 || !knows_places(m) || calls_ > 0 ||
        p.urgent.any_left(static_cast<std::uint64_t>(clock_)))
      return;
    const unsigned other = 1 - number_of(p);
    const processor& q = scheduler_.all()[other];
    for (const std::uint64_t at : {left.at, m.spinning.ended_at}) {
      if (at >= left.at && called_at_ < at && q.runs.written_at < at && runs_on_[other] && !time_[other].has_served &&
          any_known(at))
        check(q.urgent_request.all != 0, "if a P has no time left, another is asked");
    }
  }

  // The strand leaves, and waits or has ended.
  fiber* leaves(worker& m, actor& a) {
    note_leave(m, a);
    a.left.exchange(0, std::memory_order_release);
    a.used = 0;
    a.is = --a.steps > 0 ? where::waits : where::over;
    return nullptr;
  }
  // What the worker chooses next it does after that, and after an urgent one has given its place back.
  void note_leave(worker& m, const actor& a) {
    const processor& p = *m.proc;
    moment& left = left_[number_of(m)];
    left = now(p);
    left.at = ++moments;
    runs_on_[number_of(p)] = nullptr;
    if (!a.is_urgent()) return;
    if (p.urgent.runs()) time_[number_of(p)].serve_to(clock_);
    left.may_serve = serving() <= most_serving && p.urgent.runs();
    left.if_no_time_passes = true;
  }

  fiber* compute(worker& m, actor& a) {
    for (unsigned operations = 1 + any_of(3); operations > 0; --operations) {
      check_somebody_asked();
      if (with.waker ? &a >= all_ + computing : any_of(2)) wake_another(m);
      if (is_asked(m) && preemption::prepare(m)) return give_way(m, a);
    }
    return leaves(m, a);
  }

  fiber* serve(worker& m, actor& a) {
    if (any_of(2)) wake_another(m);
    if (with.calls && !a.has_called && any_of(2)) {
      a.has_called = a.blocks = true;
      const bool may_lose = blocking_protocol::prepare(m, active(m), nullptr);
      const fj::detail::begun_call begun = blocking_protocol::begin(m, a.here, may_lose, any_of(4) == 0);
      pause();
      if (!blocking_protocol::end(m, begun)) {
        m.then = &go_on_with_processor;
        m.argument = begun.had;
        make(a, nullptr);
        a.blocks = false;
        a.used = 0;
        return active_deque::leave(m, a.here);
      }
      a.blocks = false;
    }
    if (is_asked(m) && preemption::prepare(m)) return give_way(m, a);
    return leaves(m, a);
  }
  static fiber* go_on_with_processor(worker& m, fiber& f, void* had) {
    return blocking_protocol::go_on(m, f, *static_cast<processor*>(had));
  }

  fiber* give_way(worker& m, actor& a) {
    note_leave(m, a);
    a.used += clock_ - a.began;
    make(a, nullptr);
    const unsigned times = a.times;
    const bool is_cut = a.is_urgent() && any_waits(m);
    fiber* const next = active_deque::leave(m, a.here);
    // It keeps the rest of its slice, if an urgent one waits meanwhile.
    if (is_cut && any_waits(m) && no_time_has_passed() && a.times == times && a.is == where::ready) a.by = &m;
    return next;
  }

  void wake_another(worker& m) {
    if (!with.waker && any_of(2)) {
      if (actor* const o = one_that_waits(computing, others)) {
        make(*o, &m);
        call(*o, [&] { local_queue::ready(m, o->here); });
      }
      return;
    }
    actor* const u = one_that_waits(others, count);
    if (!u) return;
    make(*u, &m);
    processor& p = *m.proc;
    const bool served = p.urgent.runs();
    const bool was_busy = all_run();
    const moment before = now(p);
    const bool is_mine = asked_by_this_thread(p);
    const bool is_alone = calls_ == 0;  // another thread may count as one that looks for work, and ask later
    const unsigned begun = calls_begun_;
    call(*u, [&] { go().ready_urgent(u->here, &p); });
    const bool was_asked = p.urgent_request.asked == p.runs;
    const bool is_busy = all_run();
    if (!with.calls && is_alone && calls_begun_ == begun + 1 && is_mine && asked_by_this_thread(p) && knows_places(m) &&
        was_busy && is_busy && !served && before.may_serve && now(p) == before && waits(*u, m))
      check(was_asked, "the P of the strand that wakes an urgent fiber is asked");
  }

  // If nothing else happens, and nothing has been served yet.
  void check_somebody_asked() {
    if (with.calls || calls_ > 0 || !none_served() || !all_run() || !any_known(moments + 1)) return;
    unsigned sleep = 0;
    for (unsigned i = 0; i < workers; ++i) {
      const worker& m = scheduler_.thread(i);
      sleep += m.rests || (m.in_sleep && !m.was_signalled);
    }
    if (sleep != workers - with.procs) return;
    bool any = false;
    for (unsigned i = 0; i < with.procs; ++i) any |= scheduler_.all()[i].urgent_request.all != 0;
    check(any, "while an urgent fiber waits and each P runs another one, a P is asked");
  }

  // Whether each P runs a strand, and no worker looks for work.
  bool all_run() const {
    unsigned now = 0;
    for (const actor& a : all_) now += a.is == where::runs && !a.blocks;
    return now == with.procs;
  }

  // Whether no other worker has served, so that the worker sees how many do.
  bool knows_places(const worker& m) { return turns() == m.counts.urgent_turns.number; }

  // Or by none so far. Another thread that has read an older count of runs may write over a request.
  static bool asked_by_this_thread(const processor& p) {
    const noted_request& r = p.urgent_request;
    return !r.by_several && (r.asked_by == -1 || r.asked_by == static_cast<int>(rl::thread_index()));
  }

  bool is_asked(worker& m) {
    processor& p = *m.proc;
    const bool was_asked = p.urgent_request.asked == p.runs && asked_by_this_thread(p);
    const bool waited = any_waits(m);
    const moment before = now(p);
    const bool asked = preemption::is_asked(m);
    if (was_asked && asked_by_this_thread(p) && knows_places(m) && waited && any_waits(m) && before.may_serve &&
        now(p) == before)
      check(asked, "a strand that is asked for an urgent fiber gives way");
    return asked;
  }

  unsigned number_of(const processor& p) { return static_cast<unsigned>(&p - &scheduler_.all()[0]); }
  unsigned number_of(const worker& m) { return static_cast<unsigned>(&m - &scheduler_.thread(0)); }

  job whose_[count];
  actor all_[count];
  record never_pushed_;
  std::optional<deque_with_slots<2>> deques_[2 * with.procs];
  scheduler scheduler_{with.procs, false, 0};
  moment left_[threads] = {};
  account time_[with.procs] = {};
  const actor* runs_on_[with.procs] = {};
  bool parks_ = false;           // a worker has found nothing
  unsigned calls_ = 0;           // that make a strand ready, under way
  unsigned calls_begun_ = 0;     // ever
  std::uint64_t called_at_ = 0;  // when the last one was over, a moment
  const std::int64_t begun_at_ = clock_;
};

}  // namespace

const named_scenario scenarios[] = {
    {"urgent", 100'000, &make<urgent_fibers<setting{}>>},
    {"urgent_two", 100'000, &make<urgent_fibers<setting{.procs = 2}>>},
    {"urgent_calls", 100'000, &make<urgent_fibers<setting{.calls = true}>>},
    {"urgent_waker", 100'000, &make<urgent_fibers<setting{.waker = true}>>},
    {},
};

}  // namespace model
