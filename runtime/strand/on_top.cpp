#include "forkjoin/abi/on_top.hpp"

#include <algorithm>

#include "forkjoin/abi/fork_loop.hpp"
#include "forkjoin/abi/scope.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/sched/find.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/strand/slow_paths.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// Runs on top of the calling strand's stack what the join rule finds. `until` is not finished yet; proc() is the number
// of the P on which its thief began.
template <class Rule, class Join, class Proc>
void run_on_top_until(const Join& until, Proc proc) noexcept {
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  while (!until.finished()) {
    worker& m = *current_worker();
    m.sched().refuse_forked_copy();
    const std::uint64_t size = current_fiber()->stack_size();
    const std::uint64_t used = size - static_cast<std::uint64_t>(here - current_fiber()->stack_bottom());
    const stolen_record got = work_on_top::find<Rule>(m, current_deque().whose(), until, proc, used, size);
    if (!got.record) break;
    auto& stolen_record = static_cast<continuation&>(*got.record);
    if (is_parent(stolen_record) || is_loop_rest(stolen_record)) {
      m.sched().dispatcher().ready(*scheduler_hooks::begin(m, got));
      break;
    }
    outcome result;
    {
      const os::strand_on_top fresh(got.whose->floats);
      fiber& strand = *current_fiber();
      const bool is_outermost = !strand.runs_on_top.replace(true);
      const std::int64_t begun = os::now_ns();
      emit_event(m, event::on_top, reinterpret_cast<std::uintptr_t>(stolen_record.joined.body()),
                 reinterpret_cast<std::uintptr_t>(&stolen_record.joined), strand.number);
      result = os::call_handling(got.handled, [&] { return stolen_record.joined.body()(stolen_record); });
      const std::int64_t time = os::now_ns() - begun;
      emit_event(*current_worker(), event::on_top_end, 0, 0, strand.number);
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

// Looks at the join, and does as the rule says if it is not complete. Then the strand is late, if it has not left its
// stack meanwhile: that is noted where it goes on.
template <class Rule, class Proc>
void wait_for_thief(timed_continuation& stolen, Proc proc) noexcept {
  if (&current_deque() == &no_deque || stolen.joined.finished()) return join_slow(stolen.joined);
  ++current_worker()->count().join_waits;
  const std::int64_t came = os::now_ns();
  run_on_top_until<Rule>(stolen.joined, proc);
  if (stolen.joined.finished()) {
    const std::int64_t now = os::now_ns(), ended = stolen.ended_at.load(std::memory_order_relaxed);
    // The thief may have been done between the two looks.
    current_worker()->count().late.note(now - (std::max)(ended, came));
  }
  finish_join(stolen.joined);
}

unsigned not_known() noexcept { return traced_continuation::no_proc; }

auto thief_of(traced_continuation& stolen) noexcept {
  return [&] { return stolen.thiefs_proc.load(std::memory_order_relaxed); };
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

void join_on_top_slow(timed_continuation& stolen) noexcept { wait_for_thief<run_on_top_rule>(stolen, &not_known); }

void leapfrog_slow(traced_continuation& stolen) noexcept { wait_for_thief<leapfrog_rule>(stolen, thief_of(stolen)); }

void own_join_slow(traced_continuation& stolen) noexcept { wait_for_thief<join_rule>(stolen, thief_of(stolen)); }

// How late these joins are is not known: no child says when it has ended.

namespace {

template <class Rule, class Proc>
void wait_for_children(children& scope, Proc proc) noexcept {
  if (is_at_home(scope) && count_wait(scope)) run_on_top_until<Rule>(all_children{scope}, proc);
  finish_join(scope);
}

}  // namespace

void join_children_on_top_slow(children& scope) noexcept { wait_for_children<run_on_top_rule>(scope, &not_known); }

void leapfrog_children_slow(children& scope, unsigned proc) noexcept {
  wait_for_children<leapfrog_rule>(scope, [proc] { return proc; });
}

void own_join_children_slow(children& scope, unsigned proc) noexcept {
  wait_for_children<join_rule>(scope, [proc] { return proc; });
}

}}}  // namespace fj::v0_4::detail
