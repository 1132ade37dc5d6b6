#include "runtime/strand/on_top.hpp"

#include "runtime/sched/find.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/strand/child.hpp"
#include "runtime/strand/fork_loop.hpp"
#include "runtime/strand/fork_slow.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

namespace {

// Runs on top of the calling strand's stack what `find(worker, deep)` finds; `deep` once half of the stack is used up.
template <class Join, class Find>
void run_on_top_until(const Join& until, Find find) noexcept {
  if (&current_deque() == &no_deque) return;
  if (!until.finished()) ++current_worker()->count().join_waits;
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
      result = os::call_handling(got.handled, [&] { return stolen_record.joined.body()(stolen_record); });
    }
    if (join_waiter* const owner = stolen_record.joined.arrive(result)) resume(*static_cast<fiber*>(owner));
  }
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

void join_on_top_slow(join& stolen) noexcept {
  run_any_until(stolen);
  join_slow(stolen);
}

void leapfrog_slow(traced_continuation& stolen) noexcept {
  leapfrog_until(stolen.joined, [&] { return stolen.thiefs_proc.load(std::memory_order_relaxed); });
  join_slow(stolen.joined);
}

void join_children_on_top_slow(children& scope) noexcept {
  if (is_at_home(scope)) run_any_until(all_children{scope});
}

void leapfrog_children_slow(children& scope, unsigned proc) noexcept {
  if (is_at_home(scope)) leapfrog_until(all_children{scope}, [proc] { return proc; });
}

}}}  // namespace fj::v0_2::detail
