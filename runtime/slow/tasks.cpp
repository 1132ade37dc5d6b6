#include "runtime/slow/tasks.hpp"

#include "runtime/schedule/execute.hpp"
#include "runtime/schedule/find_work.hpp"
#include "runtime/schedule/scheduler.hpp"
#include "runtime/slow/child.hpp"
#include "runtime/slow/fork_slow.hpp"

namespace fj::inline v0_1::detail {

void join_tasks_slow(join& stolen) noexcept {
  if (&current_deque() == &outside) return;
  if (!stolen.finished()) ++current_worker()->count().join_waits;
  while (!stolen.finished()) {
    worker& m = *current_worker();
    const auto* const here = reinterpret_cast<const std::byte*>(&stolen);
    const bool deep = here < m.running->stack_bottom() + m.running->stack_size() / 2;
    const deque::stolen_record got = find_for_top(m, stolen, deep);
    if (!got.record) break;
    auto& stolen_record = static_cast<continuation&>(*got.record);
    if (is_parent(stolen_record)) {
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
  join_slow(stolen);
}

}  // namespace fj::inline v0_1::detail
