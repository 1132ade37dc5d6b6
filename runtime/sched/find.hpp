// How a worker finds something to run: a ready fiber, or else the oldest record of another strand.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "runtime/base/join_rule.hpp"
#include "runtime/base/steal_rule.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/fork/sharing.hpp"
#include "runtime/sched/local_queue.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

// What a thief does to the deques of other workers: it steals, and sends requests.

struct thief {
  struct round_result {
    fiber* resumed = nullptr;  ///< from another P's queue
    stolen_record stolen;
    bool saw_records = false;  ///< whether or not they could be had
    private_sight saw_private;
  };

  /// One round over the deques that each_victim visits: takes the first public record of job `only`, and asks owners
  /// that have none to share; as long as go_on() says so after each look.
  template <class EachVictim, class GoOn>
  static round_result look_around(worker& m, const job* only, EachVictim each_victim, GoOn go_on) noexcept {
    round_result found;
    each_victim([&](auto& p, deque_thief& victim) {
      look_at(m, only, p, victim, found);
      return !found.stolen.record && go_on();
    });
    return found;
  }

  /// One round that takes a fiber from another P's queue, too: from each P half of its ring, else a public record.
  /// `next_too`: this is the last of the passes, in which a thief takes also what runs next.
  static round_result look_for_any(worker& m, const job* only, bool next_too) noexcept {
    round_result found;
    steal_rule::each_victim(m, [&](auto& p, deque_thief& victim) {
      found.resumed = local_queue::steal(m, p, only, next_too);
      emit_take(m, p, found.resumed);
      if (!found.resumed) look_at(m, only, p, victim, found);
      return !found.resumed && !found.stolen.record;
    });
    return found;
  }

 private:
  static void look_at(worker& m, const job* only, const auto& p, deque_thief& victim, round_result& found) noexcept {
    if (only && victim.whose() != only) return;
    if (victim.has_public()) {
      found.saw_records = true;
      found.stolen = victim.steal(only);
      if (!found.stolen.record) return;
      ++m.count().steals;
      emit_steal(m, p, found.stolen.record);
      // The next thief shall find a record, too.
      if (!victim.has_public() && !scheduler_hooks::seems_empty(victim)) victim.request();
    } else {
      if (!scheduler_hooks::seems_empty(victim)) {
        found.saw_records = true;
        found.saw_private.see(p);
      }
      // Also where there is nothing yet: an owner that begins to fork may push a few records at once, and then none for
      // a while.
      if (!victim.requested()) victim.request();
    }
  }
};

// How a thief makes private records of other workers' deques public by force, if their owners do not push.

struct forcer {
  /// Makes private records public by force, for a thief that sees them but gets none: the older half in up to
  /// tuning::forced_at_a_time deques. Nothing if another thief is at it, and nothing of owners that come to one part
  /// of a loop after another: they share the loop by themselves if it is long.
  static void force(worker& m, std::int64_t now) noexcept {
    auto& s = m.sched();
    if (s.settings().eager || !s.forcing().try_lock()) return;
    // First the deques, then the guards: while a guard is up its owner waits for this thread. Deques are not freed
    // while the runtime lives, and one that is another P's by then will do, too.
    std::array<deque_thief*, tuning::forced_at_a_time> chosen;
    std::size_t count = 0;
    s.all().for_each_deque(m.dice.below(s.all().count()), 1, [&](deque_thief& d) {
      if (d.has_private() && !d.progress().was_noted_since(now - tuning::patience_ns)) chosen[count++] = &d;
      return count < chosen.size();
    });
    const auto begun = std::span(chosen).first(count);
    const auto end =
        std::partition(begun.begin(), begun.end(), [](deque_thief* d) { return forced_sharing::begin(*d); });
    // Raise the guards, then load newest: pairs with the light fence in pop (forkjoin/abi/record.hpp).
    const bool fenced = end == begun.begin() || s.threads().heavy_fence();
    std::for_each(begun.begin(), end, [&m, fenced](deque_thief* d) {
      if (!fenced) return forced_sharing::give_up(*d);
      if (!forced_sharing::end(*d, &scheduler_hooks::handles_any)) return;
      ++m.count().exposures;
      emit_event(m, event::expose, d->public_count());
      m.count().most_public.raise_to(d->public_count());
    });
    s.forcing().unlock();
  }
};

// How a thief waits: between two thefts, and between two rounds that found nothing; and for how long at most.

/// The time of the machine.
struct machine_time {
  static std::int64_t now_ns() noexcept { return os::now_ns(); }
  static void pause() noexcept { os::pause(); }
  static void yield_thread() noexcept { os::yield_thread(); }
  static void sleep_ns(std::int64_t time) noexcept { os::sleep_ns(time); }
};

/// Of one search. A template for its tests alone, which have a time of their own.
template <class Time = machine_time>
class patience {
 public:
  /// The worker begins to look for work. If it stole a moment ago it waits first, until that moment is over or
  /// `needed()`.
  template <class Needed>
  static void hold_back(worker& m, Needed needed) noexcept {
    auto& s = m.sched();
    const std::int64_t now = Time::now_ns();
    m.count().begin_looking(now);
    emit_event(m, event::looking);
    if (s.all().count() == 1 || s.settings().steal_every_fork) return;  // no owner is held up; or it was asked for
    if (now - m.stolen_at > steal_rule::between_thefts_ns) return;
    while (!needed() && Time::now_ns() - now < steal_rule::between_thefts_ns) Time::pause();
  }

  /// Whether a caller waits for the P of this worker, which may work for any job.
  static bool wanted_by_caller(worker& m, const job* only) noexcept {
    return !only && m.sched().dispatcher().any_caller_waits();
  }

  /// After a round that got nothing, of job `only` alone unless nullptr. Forces records that were seen for long.
  /// False: nothing has been seen for long, or the P is wanted or to retire, and the search ends. `needed()` ends a
  /// longer wait.
  template <class Needed>
  bool waits(worker& m, const job* only, bool saw_records, Needed needed) noexcept {
    const unsigned round = round_++;
    Time::pause();
    if (!calm_ && round % tuning::rounds_per_look != 0) return true;
    if (m.sched().dispatcher().has_surplus() || (!saw_records && wanted_by_caller(m, only))) return false;
    const std::int64_t now = Time::now_ns();
    const std::int64_t round_took = calm_ ? now - looked_away_until_ : 0;
    const bool small_loops = note_progress(m, only, now);
    if (small_loops != std::exchange(sees_loops_, small_loops)) emit_event(m, event::sees_loops, small_loops);
    const bool fibers = !saw_records && fibers_change(m.sched().all(), only);
    calm_ = small_loops || fibers;
    if (calm_) nothing_since_ = 0;
    if (saw_records) {
      nothing_since_ = 0;
      if (records_since_ == 0) records_since_ = now;
      if (now - records_since_ > steal_rule::until_force_ns) {
        forcer::force(m, now);
        records_since_ = Time::now_ns();  // that takes a while of its own
      }
    } else {
      records_since_ = 0;
      if (nothing_since_ == 0) nothing_since_ = now;
      if (now - nothing_since_ > steal_rule::until_sleep_ns) return false;
    }
    // Last: force must follow at once on the look at the owners' progress.
    if (calm_)
      look_away(m, small_loops ? (std::min)(round_took * tuning::rounds_away, tuning::most_away_ns) : 0, needed);
    if (round != 0) give_way();
    return true;
  }

 private:
  // Whether an owner has come from part to part of its loops.
  static bool note_progress(worker& m, const job* only, std::int64_t now) noexcept {
    bool any = false;
    m.sched().all().for_each_deque([&](auto& d) {
      if (only && d.whose() != only) return;  // nor would a caller find the records there
      if (!d.progress().note(now, tuning::patience_ns)) return;
      any = true;
      if (m.spinning) d.watch();
    });
    return any;
  }

  // Owners run small loops, or fibers hand over to one another: each look at their deques and queues costs them. To
  // park would cost more: the next fork or hand-over would wake this worker again. Where CPUs are far apart a
  // look costs owners most, and takes longest. So the worker stays away from small loops for many times as long, and
  // meanwhile reads only what seldom changes.
  template <class Needed>
  void look_away(worker& m, std::int64_t time, Needed needed) noexcept {
    auto& s = m.sched();
    const std::int64_t until = s.dispatcher().polled().awaited() ? 0 : Time::now_ns() + time;
    do {
      for (unsigned i = 0; i < tuning::calm_pauses; ++i) Time::pause();
      looked_away_until_ = Time::now_ns();
    } while (looked_away_until_ < until && !needed() && !any_to_take(s));
  }

  template <class Scheduler>
  static bool any_to_take(Scheduler& s) noexcept {
    auto& dispatcher = s.dispatcher();
    if (dispatcher.timekeeper().fire_all() || dispatcher.any_ready()) return true;
    if (any_in_rings(s.all())) return true;
    bool found = false;
    s.all().for_each_deque([&](auto& d) { found = found || d.has_public(); });
    return found;
  }

  // Whether a P went on to another fiber since the last call; for a caller, a P that works for its job. A hint.
  template <class Processors>
  bool fibers_change(Processors& all, const job* only) noexcept {
    std::uint32_t runs = 0;
    all.for_each(0, 1, [&](auto& p, auto& d) {
      if (!only || d.whose() == only) runs += p.runs;
      return true;
    });
    const bool changed = round_ > 1 && runs != runs_;
    runs_ = runs;
    return changed;
  }

  static void give_way() noexcept {
    const std::int64_t before = Time::now_ns();
    Time::yield_thread();
    if (Time::now_ns() - before > tuning::crowded_ns) Time::sleep_ns(tuning::nap_ns);
  }

  unsigned round_ = 0;
  std::int64_t nothing_since_ = 0;      // a time, or 0
  std::int64_t records_since_ = 0;      // a time, or 0
  std::int64_t looked_away_until_ = 0;  // a time, if calm_
  std::uint32_t runs_ = 0;              // of all P
  bool sees_loops_ = false;             // owners of small loops made progress at the last look
  bool calm_ = false;                   // owners of small loops, or fibers, make progress
};

// Takes a ready fiber for a worker: from the run queue of its P, or from the ready queue.

struct ready_work {
  /// Of that job alone unless nullptr: urgent fibers, what goes on soon, what runs next on this P, its ring, then the
  /// ready queue; in every 61st slice the ready queue comes before the ring. After an urgent fiber, or one that went on
  /// soon, a strand that was cut, perhaps for that fiber, comes before the ring; and what goes on soon comes last, once
  /// such fibers have had the P for between_cuts_ns in a row. nullptr if there is nothing.
  static fiber* take(worker& m, job* only) noexcept {
    processor* const mine = m.proc;
    const precedence before = mine->took;
    if (!only && m.sched().dispatcher().any_urgent()) [[unlikely]]
      if (fiber* const f = take_urgent(m)) return f;
    if (m.sched().dispatcher().any_soon() && may_take_soon(*mine)) [[unlikely]]
      if (fiber* const f = take_from_all(m, which::soon, only, nullptr)) return f;
    if (fiber* const f = local_queue::take_next(m)) return f;
    if (before != precedence::in_order) [[unlikely]]
      if (fiber* const f = take_from_all(m, which::cut, only, nullptr)) return f;
    if (!only && ++mine->tick % tuning::ticks_per_look == 0)
      if (fiber* const f = take_from_all(m, which::any, nullptr, nullptr)) return f;
    if (fiber* const f = local_queue::take(m)) return f;
    return take_from_all(m, which::any, only, only ? nullptr : mine);
  }

  /// For a worker whose fiber has left: `f`, which that one resumed, or else what is ready. Before every 61st such `f`
  /// the worker takes something from the ready queue, and makes `f` ready instead. Otherwise a chain of fibers that
  /// resume each other would keep out what waits.
  static fiber* take_after(worker& m, fiber* f) noexcept {
    if (!f) return found(m, take(m, nullptr));
    if (++m.proc->tick % tuning::ticks_per_look != 0) return f;
    fiber* const first = take_from_all(m, which::any, nullptr, nullptr);
    if (!first) return f;
    m.sched().dispatcher().ready(*f, nullptr);
    return first;
  }

  /// The same for a caller, which runs its own job alone: `f`, or else what is in its own queue. nullptr also if
  /// others wait for the P.
  static fiber* take_own_after(worker& m, fiber* f) noexcept {
    if (gives_way(m)) {
      if (f) m.sched().dispatcher().ready(*f);
      return nullptr;
    }
    if (f) return f;
    fiber* const next = local_queue::take_next(m);
    return found(m, next ? next : local_queue::take(m));
  }

  /// For a caller of that job: whether a P is idle though something is ready, or another job's deque has records.
  static bool left_to_others(worker& m, const job& only) noexcept {
    auto& s = m.sched();
    if (!s.dispatcher().any_idle()) return false;
    bool found = s.dispatcher().any_ready() || any_in_rings(s.all());
    s.all().for_each_deque([&](auto& d) { found = found || (d.whose() != &only && !scheduler_hooks::seems_empty(d)); });
    return found;
  }

 private:
  using which = ready_queue::which;

  static fiber* found(worker& m, fiber* f) noexcept {
    if (f) m.sched().dispatcher().stop_spinning(m);
    return f;
  }

  // Strands of one job may wake one another for ever. So a caller asks whether another job lacks its P, when a strand
  // has yielded, when a slice is over, and at every 61st fiber.
  static bool gives_way(worker& m) noexcept {
    const bool asks = ++m.proc->tick % tuning::ticks_per_look == 0 || m.yielded;
    auto& dispatcher = m.sched().dispatcher();
    m.yielded = asks && dispatcher.ready_count() != m.brought->ready.count() && dispatcher.lacks_processor();
    return m.yielded;
  }

  // Fibers that go on soon share the P with the others by time. One at a time would be too few: a server would answer
  // one request for each cut.
  static bool may_take_soon(processor& mine) noexcept {
    const std::uint64_t now = os::rough_ns();
    if (mine.took != precedence::soon) mine.soon_until = now + tuning::between_cuts_ns;
    return now < mine.soon_until;
  }

  // An urgent fiber before others, with which a new slice begins.
  static fiber* take_urgent(worker& m) noexcept {
    fiber* const f = m.sched().dispatcher().take_urgent(*m.proc);
    if (!f) return nullptr;
    m.proc->slice_began = 0;
    m.proc->took = precedence::urgent;
    ++m.count().urgent_turns;
    return f;
  }

  // An entry of the ready queue, with which a new slice begins. `more_to`: as in the dispatcher.
  static fiber* take_from_all(worker& m, which of, job* only, processor* more_to) noexcept {
    auto& dispatcher = m.sched().dispatcher();
    while (dispatcher.any_ready()) {
      const bool has_stack = scheduler_hooks::prepare_stack(m);
      const auto got = dispatcher.take_ready(of, only, has_stack, more_to);
      if (got) {
        m.proc->slice_began = 0;
        m.proc->took = got.its;
      }
      if (got.emptied) scheduler_hooks::give_deque(m, *got.emptied);
      if (got.stolen.record) {
        ++m.count().steals;
        emit_steal(m, got.stolen.record);
        return scheduler_hooks::begin(m, got.stolen);
      }
      if (got.brought) {
        if (has_stack) return scheduler_hooks::begin(m, {nullptr, got.brought});
        if (!scheduler_hooks::refuse(m, *got.brought)) return nullptr;
        continue;
      }
      // A deque that another thief has emptied: the next entry may be more.
      if (got.resumed || !got.emptied) return got.resumed;
    }
    return nullptr;
  }
};

struct work_search {
  /// A fiber to run: a ready one, else one that begins with a stolen record. nullptr when there is nothing, or when
  /// enough others look already: then the worker parks.
  static fiber* find_work(worker& m) noexcept {
    begin_looking(m, nullptr);
    fiber* f = wait_for_turn(m);
    if (!f && m.spinning) f = search(m, nullptr);
    if (f) m.sched().dispatcher().stop_spinning(m);
    return f;
  }

  /// A fiber that works for that job. nullptr when the job is over, when nothing of it has been seen for a while, or
  /// when another thread lacks the P, or would not be woken for an idle one: then the caller hands its P over.
  static fiber* find_work_of(job& only, worker& m) noexcept {
    begin_looking(m, &only);
    m.sched().dispatcher().start_spinning(m);
    fiber* const f = search(m, &only);
    if (f) m.sched().dispatcher().stop_spinning(m);
    return f;
  }

 private:
  // acquire: pairs with the release in dispatcher.hpp: finish
  static bool is_over(const job* only) noexcept { return only && only->done.load(std::memory_order_acquire); }

  // The worker begins to look. If it stole little a moment ago it waits first.
  static void begin_looking(worker& m, const job* only) noexcept {
    os::may_lose_turn();
    m.sched().refuse_forked_copy();
    m.sched().dispatcher().timekeeper().fire_own(m);
    patience<>::hold_back(m, [&] { return is_over(only) || m.sched().dispatcher().any_ready(); });
  }

  // What becomes ready, or nullptr; and has the worker join those that look for records, when it is its turn. The
  // worker waits some rounds for its turn: workers that look on top of a join look for a moment only, and to park at
  // once would cost more.
  static fiber* wait_for_turn(worker& m) noexcept {
    for (unsigned round = 0; round < tuning::top_rounds; ++round) {
      if (fiber* const f = ready_work::take(m, nullptr)) return f;
      if (m.sched().dispatcher().may_spin()) m.sched().dispatcher().start_spinning(m);
      if (m.spinning) break;
      os::pause();
    }
    return nullptr;
  }

  static fiber* search(worker& m, job* only) noexcept {
    // A stack first: a record that has been taken must be run.
    if (!scheduler_hooks::prepare_stack(m)) {
      // No memory: the owners do their work themselves. Not to come back at once, as long as there is something to be
      // seen.
      os::sleep_ns(tuning::refused_ns);
      return nullptr;
    }
    patience patient;
    private_sight saw_private;
    unsigned for_others = 0;
    for (unsigned pass = 0;; ++pass) {
      m.sched().dispatcher().timekeeper().fire_all();
      if (pass % tuning::rounds_per_look == 0) m.sched().dispatcher().polled().poll();
      if (fiber* const f = ready_work::take(m, only)) return f;
      // A caller works for its own job only, and another thread may lack the P.
      if (is_over(only) || (only && m.sched().dispatcher().lacks_processor())) return nullptr;
      const auto found = thief::look_for_any(m, only, pass % tuning::steal_passes == tuning::steal_passes - 1);
      if (found.resumed) return found.resumed;
      if (found.stolen.record) {
        m.stolen_at = os::now_ns();
        m.count().begin_busy(m.stolen_at);
        emit_event(m, event::busy);
        fiber* const thief = scheduler_hooks::begin(m, found.stolen);
        scheduler_hooks::note_begin(*thief, m.stolen_at);
        return thief;
      }
      found.saw_private.emit_change(m, saw_private);
      // No worker is woken for other jobs while the caller counts as spinning. So it hands its P over, if two looks
      // find work of theirs.
      if (only && pass % tuning::rounds_per_look == 0 &&
          (for_others = ready_work::left_to_others(m, *only) ? for_others + 1 : 0) > 1)
        return nullptr;
      if (!patient.waits(m, only, found.saw_records,
                         [&] { return is_over(only) || patience<>::wanted_by_caller(m, only); }))
        return nullptr;
    }
  }
};

// Finds the records that a strand which waits at a join may run on top of its own stack.

struct work_on_top {
  /// A record of job `whose`, to be run on top of a strand that waits for `until`, as the join rule says; none once
  /// that is finished, after looking for a while, or if the strand had better leave its stack: something is ready,
  /// which cannot run on top, or that stack, of `size` bytes, of which so many are `used`, had better not grow by other
  /// people's work. thiefs_proc(): the number of the P on which the thief began.
  template <class Rule, class Join, class Proc>
  static stolen_record find(worker& m, const job* whose, const Join& until, Proc thiefs_proc, std::uint64_t used,
                            std::uint64_t size) noexcept {
    if constexpr (!Rule::runs_on_top) {
      return {};
    } else {
      if (!Rule::may_grow(used, size) || !may_begin(m)) return {};
      if constexpr (Rule::looks_everywhere) m.sched().dispatcher().start_spinning(m);
      // The strand asks its own join after each look: the join is in the worker's own cache until the thief writes it,
      // and a round over many P takes longer than the stolen record.
      const auto waits = [&] { return !until.finished(); };
      stolen_record got;
      for (unsigned round = 0; round < Rule::rounds && !got.record && waits(); ++round) {
        const auto each_victim = [&](auto visit) { Rule::each_victim(m, thiefs_proc(), round, visit); };
        got = thief::look_around(m, whose, each_victim, waits).stolen;
        if (!got.record) os::pause();
      }
      if constexpr (Rule::looks_everywhere) m.sched().dispatcher().stop_spinning(m);
      return got;
    }
  }

 private:
  static bool may_begin(worker& m) noexcept {
    if (!m.proc->queue.empty() || m.sched().dispatcher().any_ready()) return false;
    // A stack first, in case the record turns out to be the rest of a scope's parent, which has a stack of its own.
    return scheduler_hooks::prepare_stack(m);
  }
};

}}}  // namespace fj::v0_4::detail
