#include "forkjoin/abi/on_top.hpp"

#include <algorithm>

#include "forkjoin/abi/fork_loop.hpp"
#include "forkjoin/abi/scope.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/sched/find.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/strand/slow_paths.hpp"
#include "runtime/trace/note.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

namespace {

// Runs on top of the calling strand's stack what `find(worker, deep)` finds; `deep` once half of the stack is used up. `until` is not
// finished yet.
template <class Join, class Find>
void run_on_top_until(const Join& until, Find find) noexcept {
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  while (!until.finished()) {
    worker& m = *current_worker();
    m.sched().refuse_forked_copy();
    const bool deep = here < current_fiber()->stack_bottom() + current_fiber()->stack_size() / 2;
    const stolen_record got = find(m, deep);
    if (!got.record) break;
    auto& stolen_record = static_cast<continuation&>(*got.record);
    if (is_parent(stolen_record) || is_loop_rest(stolen_record)) {
      m.sched().dispatcher().ready(*system::begin(m, got));
      break;
    }
    outcome result;
    {
      const os::strand_on_top fresh(got.whose->floats);
      fiber& strand = *current_fiber();
      const bool is_outermost = !strand.runs_on_top.replace(true);
      const std::int64_t begun = os::now_ns();
      note(m, event::on_top, reinterpret_cast<std::uintptr_t>(stolen_record.joined.body()),
           reinterpret_cast<std::uintptr_t>(&stolen_record.joined), strand.number);
      result = os::call_handling(got.handled, [&] { return stolen_record.joined.body()(stolen_record); });
      const std::int64_t time = os::now_ns() - begun;
      note(*current_worker(), event::on_top_end, 0, 0, strand.number);
      tallies& count = current_worker()->count();
      if (is_outermost) {
        strand.runs_on_top = false;
        count.on_top_ns += static_cast<std::uint64_t>(time);
      }
      count.note_stolen(time);
    }
    if (join_waiter* const owner = stolen_record.joined.arrive(result)) resume(*static_cast<fiber*>(owner));
  }
}

// Looks at the join, and calls wait() if it is not complete. Then the strand is late, if it has not left its stack meanwhile: that is
// noted where it goes on.
template <class Wait>
void wait_for_thief(timed_continuation& stolen, Wait wait) noexcept {
  if (&current_deque() == &no_deque || stolen.joined.finished()) return join_slow(stolen.joined);
  ++current_worker()->count().join_waits;
  const std::int64_t came = os::now_ns();
  wait();
  if (stolen.joined.finished()) {
    const std::int64_t now = os::now_ns(), ended = stolen.ended_at.load(std::memory_order_relaxed);
    // The thief may have been done between the two looks.
    current_worker()->count().late.note(now - (std::max)(ended, came));
  }
  finish_join(stolen.joined);
}

// Records of any P.
template <class Join>
void run_any_until(const Join& until) noexcept {
  run_on_top_until(until,
                   [&](worker& m, bool deep) { return work_on_top::find(m, current_deque().whose(), until, deep); });
}

// Records of the P with the number that proc() returns.
template <class Join, class Proc>
void leapfrog_until(const Join& until, Proc proc) noexcept {
  run_on_top_until(
      until, [&](worker& m, bool deep) { return work_on_top::find_at(m, current_deque().whose(), until, proc, deep); });
}

// A scope's children as a join.
struct all_children {
  children& scope;
  bool finished() const noexcept { return scope.joined.all_arrived(); }
};

bool is_at_home(const children& scope) noexcept { return current_fiber() == scope.home; }

}  // namespace

void traced_continuation::begins_here() noexcept {
  thiefs_proc.store(current_worker()->proc->index, std::memory_order_relaxed);
}

void timed_continuation::ends_here() noexcept { ended_at.store(os::now_ns(), std::memory_order_relaxed); }

void join_on_top_slow(timed_continuation& stolen) noexcept {
  wait_for_thief(stolen, [&] { run_any_until(stolen.joined); });
}

void leapfrog_slow(traced_continuation& stolen) noexcept {
  wait_for_thief(stolen, [&] {
    leapfrog_until(stolen.joined, [&] { return stolen.thiefs_proc.load(std::memory_order_relaxed); });
  });
}

// How late these joins are is not known: no child says when it has ended.

void join_children_on_top_slow(children& scope) noexcept {
  if (is_at_home(scope) && note_wait(scope)) run_any_until(all_children{scope});
  finish_join(scope);
}

void leapfrog_children_slow(children& scope, unsigned proc) noexcept {
  if (is_at_home(scope) && note_wait(scope)) leapfrog_until(all_children{scope}, [proc] { return proc; });
  finish_join(scope);
}

}}}  // namespace fj::v0_2::detail
