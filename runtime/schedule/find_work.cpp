#include "runtime/schedule/find_work.hpp"

#include "runtime/fork/current.hpp"
#include "runtime/schedule/scheduler.hpp"
#include "runtime/schedule/search.hpp"
#include "runtime/schedule/work_on_top.hpp"

namespace fj::inline v0_1::detail {

using search = basic_search<system>;

fiber* find_work_of(root& only, worker& m) noexcept { return search::find_work_of(only, m); }

deque::stolen_record find_for_top(worker& m, const join& until, bool deep) noexcept {
  m.sched().refuse_forked_copy();
  return basic_work_on_top<system>::find(m, current_deque().whose(), until, deep);
}

}  // namespace fj::inline v0_1::detail
