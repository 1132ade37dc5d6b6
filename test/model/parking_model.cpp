// Parking: strands fork while workers look for work, go to sleep, are woken and are started, and callers bring jobs,
// sleep, and come back. What the threads do are the runtime's loops and rules themselves; the model's own is what the
// fibers do (`run`).

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "test/model/parking_setting.hpp"
#include "test/model/scenario.hpp"
#include "test/model/scheduler.hpp"

namespace model {
namespace {

struct workload;

/// What a thief calls; the thieves of the model know it without.
[[gnu::aligned(16)]] fj::detail::outcome body(fj::detail::continuation&) noexcept {
  return fj::detail::outcome::returned;
}

/// A record, and the strand that forked it.
struct branch : record {
  workload* parent = nullptr;
  fj::detail::join joined{&body};
  plain<int> work{0};  // written before the fork, read by the thief
  // Known outside of the model's memory.
  bool forked = false;
  bool waits = false;  // in the deque, and its owner does not come back for it
  int runs = 0;
};

struct workload {
  job whole;
  fiber strand;
  plain<unsigned> ending{0};  // forks that the strand still has to do
  // Known outside of the model's memory.
  bool begun = false, over = false;
  bool gave_way = false;
  unsigned yields = 2;
};

template <setting with>
class parking_workers : public scheduling_scenario, private steps {
 public:
  parking_workers() {
    for (auto& d : deques_) {
      d.emplace(never_pushed_, with.eager);
      if (with.quiet) d->records.progress().make();  // by a strand that was there before
    }
    for (unsigned i = 0; i < with.procs; ++i) {
      scheduler_.all()[i].active.store(&deques_[i]->records, std::memory_order_relaxed);
      if (wanders) scheduler_.all()[i].spare_deque = &deques_[with.procs + i]->records;
    }
    for (workload& j : jobs_) j.strand.whose = &j.whole;
    if (runs_for_caller) jobs_[1].strand.whose = &jobs_[0].whole;
    unsigned to_hold = with.procs;
    for (const role r : with.roles) to_hold -= holds_processor(r);
    for (unsigned i = 0; i < threads; ++i) {
      worker& m = scheduler_.thread(i);
      if (with.roles[i] == role::unstarted) scheduler_.threads().next = &m;
      if (with.roles[i] == role::worker && to_hold > 0) {
        how_[i] = static_cast<start>(any_of(3));
        to_hold -= how_[i] != start::asleep;
      }
      // While all P are idle: so it does not look.
      if ((with.roles[i] == role::worker || with.roles[i] == role::sleeper) && how_[i] == start::asleep) go().park(m);
    }
    for (unsigned i = 0; i < threads; ++i) {
      worker& m = scheduler_.thread(i);
      if (holds_processor(with.roles[i]) || how_[i] != start::asleep) go().take_processor(m, scheduler_.all()[0]);
      if (m.proc) m.signal();
      if (how_[i] == start::spinning || (with.roles[i] == role::leaver && any_of(2))) go().start_spinning(m);
    }
  }

  void thread(unsigned index) override {
    worker& m = scheduler_.thread(index);
    m.run([&] { live(m, index); });
  }

  void after() override {
    unsigned held = 0;
    for (unsigned i = 0; i < threads; ++i) held += scheduler_.thread(i).proc != nullptr;
    // A strand that works for ever keeps its P though it should retire.
    const bool all_held = held >= go().in_use();
    check(!go().has_surplus() || held > go().in_use(), "a P that is to retire does where its worker gives it up");
    // Whether a P and a thread are there for what this job has.
    const auto could_run = [&](const workload& j) {
      if (all_held) return false;
      for (unsigned i = 0; i < threads; ++i)
        if (scheduler_.thread(i).rests && (is_caller(i) ? &jobs_[i] == &j : may_have_thread(i))) return true;
      return false;
    };
    bool may_keep_time = false, any_in_poller = false;
    std::int64_t wakes_at = fj::detail::never, due = fj::detail::never;
    for (unsigned i = 0; i < threads; ++i) {
      worker& m = scheduler_.thread(i);
      if (!m.rests) continue;
      may_keep_time = true;
      any_in_poller = any_in_poller || m.in_poller;
      wakes_at = std::min(wakes_at, m.sleeps_until);
    }
    for (unsigned i = 0; i < with.procs; ++i) due = std::min(due, scheduler_.all()[i].timers.earliest());
    check(all_held || !may_keep_time || wakes_at <= due, "a worker that sleeps wakes when a timer is due");
    check(all_held || !may_keep_time || !scheduler_.poller().awaited() || any_in_poller,
          "a worker that sleeps does so in the poller while a strand waits there");
    for (const branch& b : branches_) {
      check(!b.waits || !could_run(*b.parent), "no record waits while a worker sleeps");
      check(!b.forked || b.waits || b.runs == 1, "every record is run once");
    }
    for (unsigned i = 0; i < threads; ++i) {
      const workload& j = jobs_[i];
      const auto waits = [&](fiber* f) { return f && f->whose == &j.whole; };
      bool any = !j.whole.ready.empty();
      for (unsigned p = 0; p < with.procs; ++p)
        any = any || waits(scheduler_.all()[p].queue.next()) || waits(scheduler_.all()[p].queue.first());
      check(!any || !could_run(j), "no runnable fiber waits while a worker sleeps");
      if (is_caller(i)) check(!scheduler_.thread(i).rests || !j.over, "no caller sleeps when its job is over");
    }
  }

 private:
  enum class start { looking, spinning, asleep };

  static constexpr bool wanders = count(with, role::wanderer) > 0;
  static constexpr bool talks_to_caller = count(with, role::talker) > 0 && with.roles[0] == role::caller;
  static constexpr bool is_resumed = count(with, role::resumer) > 0;
  static constexpr bool runs_for_caller = count(with, role::runner) > 0;
  static constexpr unsigned strands = count(with, role::owner) + runs_for_caller + count(with, role::caller) + wanders;
  static constexpr unsigned max_branches = strands * with.ending + with.endless;

  static bool holds_processor(role r) {
    return r == role::owner || r == role::runner || r == role::leaver || r == role::wanderer || r == role::talker ||
           r == role::timed || r == role::timed_leaver || r == role::leaving_waker || r == role::polling;
  }
  static bool is_caller(unsigned i) {
    return with.roles[i] == role::caller || with.roles[i] == role::visitor || with.roles[i] == role::resting ||
           with.roles[i] == role::yielder;
  }
  bool may_have_thread(unsigned i) { return with.roles[i] != role::unstarted || !scheduler_.threads().refused; }

  dispatcher& go() { return scheduler_.dispatcher(); }
  static deque& active(worker& m) { return *m.proc->active.load(std::memory_order_relaxed); }

  void arm(worker& m, fj::detail::timer& t) {
    m.proc->timers.make_room();
    go().timekeeper().arm(m, t);
    go().attend_timers(m);
  }

  // As wait_inside and watch_in in runtime/wait/descriptors/watched.cpp.
  void poll_wait(worker& m) {
    scheduler_.poller().open();
    go().timekeeper().poller_is_open();
    go().timekeeper().begin_poll_wait();
    go().attend_timers(m);
  }

  // What threads do.

  void live(worker& m, unsigned index) {
    workload& mine = jobs_[index];
    switch (with.roles[index]) {
      case role::absent:
        return;
      case role::runner:
        wait_until([&] { return scheduler_.thread(0).in_sleep; });
        [[fallthrough]];
      case role::owner:
      case role::wanderer:
        worker_loop::execute(m, &mine.strand);
        // It has been signalled, so it goes on. Without a P, as that was to retire, it parks.
        if (m.proc) return worker_loop::run(m);
        m.sleep();
        return worker_loop::run(m, fj::detail::after_park::work);
      case role::caller:
      case role::visitor:
      case role::resting:
      case role::yielder:
        return bring(m, mine);
      case role::leaver:
        if (with.late) wait_until([&] { return joined_; });
        return go().hand_over(m, any_of(2) ? waker::sleeps : waker::goes_on);
      case role::leaving_waker:
        go().hand_over(m, waker::goes_on);
        [[fallthrough]];
      case role::waker:
        if (with.quiet) return go().ready(mine.strand);
        if (runs_for_caller) wait_until([&] { return jobs_[1].begun; });
        for (unsigned i = 0; i < with.endless; ++i) {
          ready_[i].whose = &mine.whole;
          if (i == 0 && !runs_for_caller && any_of(2)) {
            go().ready(mine.whole);
          } else if (any_of(2)) {
            go().ready(ready_[i]);
          } else {
            go().ready_soon(ready_[i]);
          }
        }
        return;
      case role::talker:
        if (talks_to_caller && any_of(2)) wait_until([&] { return scheduler_.thread(0).in_sleep; });
        for (unsigned i = 0; i < with.endless; ++i) {
          ready_[i].whose = talks_to_caller ? &jobs_[0].whole : &mine.whole;
          local_queue::ready(m, ready_[i]);
        }
        return;
      case role::worker:
      case role::sleeper:
      case role::unstarted:
        return worker_loop::run(m);
      case role::timed:
      case role::timed_leaver:
        // The second and the third: a timekeeper that slept for the first may look between the two.
        arm(m, timers_[0]);
        if (with.endless > 1) {
          m.proc->timers.disarm(timers_[0]);
          arm(m, timers_[2]);
          arm(m, timers_[1]);
        }
        if (with.roles[index] == role::timed_leaver) return go().hand_over(m, waker::goes_on);
        if (any_of(2)) worker_loop::run(m);
        return;
      case role::polling: {
        const unsigned arms = any_of(with.endless + 1), before = any_of(arms + 1);
        for (unsigned i = 0; i < arms; ++i) {
          if (i == before) poll_wait(m);
          arm(m, timers_[with.endless - 1 - i]);  // each earlier than those before
        }
        if (before == arms) poll_wait(m);
        if (any_of(2)) worker_loop::run(m);
        return;
      }
      case role::resizer:
        go().use(1);
        if (any_of(4)) go().use(with.procs);
        return;
      case role::resumer:
        wait_until([&] { return has_left_.load(std::memory_order_acquire); });
        return go().ready(jobs_[0].strand);
    }
  }

  void bring(worker& m, workload& j) {
    m.brought = &j.whole;
    j.whole.caller = &m;
    caller_loop::run(j.whole, m, j.strand);
    check(j.over, "a caller waits until its job is over");
    check(!m.proc, "a caller that goes back to its program holds no P");
    m.gone = true;
  }

  // What fibers do.

  fiber* run(worker& m, fiber& f) override {
    if (f.stolen.record) return run_stolen(m, static_cast<branch&>(*f.stolen.record));
    for (workload& j : jobs_)
      if (&f == &j.strand) return run_strand(m, j);
    m.end();
  }

  fiber* run_stolen(worker& m, branch& b) {
    check(&b != &never_pushed_, "what is stolen has been pushed");
    check(b.work.get() == 1, "what is stolen is there");
    run(b);
    if (!with.brief) m.end();
    if (wanders && any_of(2)) m.end();
    if (wanders) return nullptr;  // no strand waits for it
    return static_cast<fiber*>(b.joined.arrive(fj::detail::outcome::returned));
  }

  void run(branch& b) {
    check(b.runs++ == 0, "no record is run twice");
    b.waits = false;
  }

  fiber* run_strand(worker& m, workload& j) {
    active_deque::install(m, j.strand);
    const bool begins = !std::exchange(j.begun, true);
    switch (with.roles[&j - jobs_]) {
      case role::visitor:
        return end(m, j);
      case role::resting:
        return nullptr;
      case role::yielder:
        return yield(m, j);
      case role::wanderer:
        return begins ? leave_with_records(m, j) : come_back(m);
      default:
        if (talks_to_caller) return nullptr;  // the strand waits
    }
    if (begins) {
      endless_ = any_of(with.endless + (with.endless == 0));
      for (unsigned i = 0; i < endless_; ++i) push(m, j, true);
      j.ending = with.brief ? with.ending : any_of(with.ending + 1);
    }
    while (j.ending > 0) {
      j.ending = j.ending - 1;
      branch& b = push(m, j);
      if (pop(m, b)) {
        run(b);
      } else {
        return active_deque::leave_records(m, j.strand, [&] { return b.joined.wait(j.strand) ? nullptr : &j.strand; });
      }
    }
    joined_ = true;
    for (; endless_ < with.endless; ++endless_) push(m, j, true);
    if (!with.brief) m.end();
    return end(m, j);
  }

  fiber* end(worker& m, workload& j) {
    j.over = true;
    caller_loop::end(j.whole, m);
    return nullptr;
  }

  // Others come first, as for fj::yield.
  fiber* yield(worker& m, workload& j) {
    const worker& other = scheduler_.thread(1);
    const auto other_waits = [&] { return other.in_sleep && !other.was_signalled; };
    check(!j.gave_way || !other_waits(), "a strand that yields lets another job run first");
    if (j.yields-- == 0) return end(m, j);
    return active_deque::leave_records(m, j.strand, [&] {
      fiber* const next = caller_loop::yield(m, j.strand);
      j.gave_way = other_waits();
      return next;
    });
  }

  branch& push(worker& m, workload& j, bool waits = false) {
    branch& b = branches_[used_++];
    b.parent = runs_for_caller ? &jobs_[0] : &j;
    b.work = 1;
    b.forked = true;
    b.waits = waits;
    deque& d = active(m);
    if (with.quiet) d.progress().make();
    if (d.push(b, deque::name_of(b)) && !(with.quiet && (d.is_watched(b) || owner_steps::is_watched_by_any(m, d, b))))
      owner_steps::answer_request(m, d, nullptr);
    return b;
  }

  bool pop(worker& m, branch& b) {
    deque& d = active(m);
    return d.pop(b) || owner_steps::take_back(m, d, b);
  }

  // A fiber that waits for something else than its forks. When it goes on it takes its records back, or works for ever.

  fiber* leave_with_records(worker& m, workload& j) {
    for (unsigned i = 0; i < with.ending; ++i) push(m, j);
    if (active(m).has_private()) active(m).share_all(nullptr);
    return active_deque::leave_records(m, j.strand, [&]() -> fiber* {
      for (branch& b : branches_) b.waits = b.runs == 0;
      has_left_.store(1, std::memory_order_release);
      if (!with.at_once && (is_resumed || any_of(3) == 0)) return nullptr;
      return with.at_once || any_of(2) ? &j.strand
                                       : &ready_[0];  // what the fiber waits for is there already, or another is
    });
  }

  fiber* come_back(worker& m) {
    const bool forever = with.at_once || any_of(2);
    for (unsigned i = used_; i-- > 0;) {
      branch& b = branches_[i];
      b.waits = forever && b.runs == 0;
      if (!forever && pop(m, b)) run(b);
    }
    if (with.at_once) linger();
    if (forever) m.end();
    return nullptr;
  }

  // A worker may be slow after its last look; and what a strand that works for ever has stored may be unseen for long,
  // but the end of a thread fences. By chance alone both would be rare.
  void before_park() override {
    if (with.at_once) linger();
  }
  static void linger() {
    for (unsigned left = any_of(2) * 60; left > 0; --left) pause();
  }

  workload jobs_[threads];
  branch never_pushed_;
  branch branches_[max_branches];
  std::optional<deque_with_slots<max_branches>> deques_[wanders ? 2 * with.procs : with.procs];
  scheduler scheduler_{with.procs, with.eager, count(with, role::unstarted)};
  fiber ready_[with.endless + 1];
  late_timer timers_[3] = {late_timer(0), late_timer(1), late_timer(2)};
  start how_[threads] = {start::asleep, start::asleep, start::asleep};
  unsigned used_ = 0, endless_ = 0;
  bool joined_ = false;  // known outside of the model's memory
  os::atomic<int> has_left_{0};
};

template <bool eager>
constexpr setting at_once = {
    .roles = {role::wanderer, role::worker}, .ending = 1, .endless = 0, .eager = eager, .brief = true, .at_once = true};

}  // namespace

const named_scenario scenarios[] = {
    {"park", 1'200'000, &make<parking_workers<setting{.roles = {role::owner, role::worker}}>>},
    {"give_up", 300'000,
     &make<parking_workers<setting{.roles = {role::owner, role::leaver, role::sleeper}, .ending = 1, .late = true}>>},
    {"park_eager", 200'000, &make<parking_workers<setting{.roles = {role::owner, role::worker}, .eager = true}>>},
    {"arrive", 300'000, &make<parking_workers<setting{.roles = {role::caller, role::worker}, .ending = 1}>>},
    {"two", 400'000,
     &make<parking_workers<setting{
         .roles = {role::owner, role::worker, role::worker}, .procs = 3, .ending = 1, .endless = 2}>>},
    {"visit", 300'000,
     &make<parking_workers<setting{.roles = {role::owner, role::sleeper, role::visitor}, .ending = 0}>>},
    {"leave", 2'400'000, &make<parking_workers<setting{.roles = {role::caller, role::worker, role::leaver}}>>},
    {"rest", 1'000'000,
     &make<parking_workers<setting{.roles = {role::resting, role::runner, role::waker}, .ending = 1}>>},
    {"ready", 300'000,
     &make<parking_workers<setting{.roles = {role::waker, role::worker, role::worker}, .ending = 0, .endless = 2}>>},
    {"talk", 300'000,
     &make<parking_workers<setting{
         .roles = {role::talker, role::worker, role::worker}, .procs = 3, .ending = 0, .endless = 2}>>},
    {"talk_to_caller", 300'000,
     &make<parking_workers<setting{.roles = {role::caller, role::talker}, .ending = 0, .endless = 2}>>},
    {"sleep", 300'000,
     &make<parking_workers<setting{.roles = {role::caller, role::worker}, .endless = 0, .brief = true}>>},
    {"callers", 300'000,
     &make<parking_workers<setting{
         .roles = {role::caller, role::worker, role::caller}, .procs = 2, .ending = 1, .endless = 0, .brief = true}>>},
    {"crowd", 300'000,
     &make<parking_workers<setting{
         .roles = {role::caller, role::caller, role::caller}, .procs = 1, .ending = 1, .endless = 0, .brief = true}>>},
    {"yield", 300'000,
     &make<parking_workers<setting{.roles = {role::yielder, role::visitor}, .procs = 1, .ending = 0, .endless = 0}>>},
    {"last_resort", 400'000,
     &make<parking_workers<setting{.roles = {role::caller, role::worker, role::leaver}, .ending = 0, .endless = 1}>>},
    {"marker", 400'000,
     &make<parking_workers<setting{
         .roles = {role::wanderer, role::worker, role::resumer}, .endless = 0, .brief = true}>>},
    {"come_back", 400'000,
     &make<parking_workers<setting{.roles = {role::wanderer, role::worker}, .endless = 0, .brief = true}>>},
    {"at_once", 600'000, &make<parking_workers<at_once<false>>>},
    {"at_once_eager", 600'000, &make<parking_workers<at_once<true>>>},
    {"timers", 400'000,
     &make<parking_workers<setting{.roles = {role::timed, role::worker}, .ending = 0, .endless = 2}>>},
    {"timers_eager", 400'000,
     &make<parking_workers<setting{.roles = {role::timed, role::worker}, .ending = 0, .endless = 2, .eager = true}>>},
    {"timers_two", 300'000,
     &make<parking_workers<setting{
         .roles = {role::timed, role::worker, role::worker}, .procs = 3, .ending = 0, .endless = 2}>>},
    {"timers_leave", 300'000,
     &make<
         parking_workers<setting{.roles = {role::timed_leaver, role::worker}, .procs = 1, .ending = 0, .endless = 1}>>},
    {"timers_ready", 300'000,
     &make<parking_workers<setting{
         .roles = {role::timed, role::sleeper, role::leaving_waker}, .ending = 0, .endless = 1}>>},
    {"poll", 400'000,
     &make<parking_workers<setting{.roles = {role::polling, role::worker}, .ending = 0, .endless = 1}>>},
    {"poll_two", 400'000,
     &make<parking_workers<setting{
         .roles = {role::polling, role::worker, role::worker}, .procs = 3, .ending = 0, .endless = 2}>>},
    {"quiet", 1'200'000, &make<parking_workers<setting{.roles = {role::owner, role::worker}, .quiet = true}>>},
    {"quiet_two", 400'000,
     &make<parking_workers<setting{
         .roles = {role::owner, role::worker, role::worker}, .procs = 3, .ending = 0, .endless = 2, .quiet = true}>>},
    {"quiet_ready", 400'000,
     &make<parking_workers<setting{
         .roles = {role::waker, role::worker, role::sleeper}, .ending = 0, .endless = 1, .quiet = true}>>},
    {"resize", 600'000, &make<parking_workers<setting{.roles = {role::owner, role::worker, role::resizer}}>>},
    {"resize_eager", 200'000,
     &make<parking_workers<setting{.roles = {role::owner, role::worker, role::resizer}, .eager = true}>>},
    {"resize_talk", 300'000,
     &make<parking_workers<setting{.roles = {role::talker, role::worker, role::resizer}, .ending = 0, .endless = 2}>>},
    {"resize_callers", 300'000,
     &make<parking_workers<setting{
         .roles = {role::caller, role::worker, role::resizer}, .ending = 1, .endless = 0, .brief = true}>>},
    {"resize_timers", 300'000,
     &make<parking_workers<setting{.roles = {role::timed, role::worker, role::resizer}, .ending = 0, .endless = 2}>>},
    {"start", 300'000,
     &make<parking_workers<setting{.roles = {role::caller, role::unstarted, role::visitor}, .ending = 0}>>},
    {},
};

}  // namespace model
