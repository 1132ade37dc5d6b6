#include "runtime/schedule/thread_main.hpp"

#include "runtime/fork/current.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/schedule/execute.hpp"
#include "runtime/schedule/find_work.hpp"
#include "runtime/schedule/scheduler.hpp"

namespace fj::inline v0_1::detail {

namespace {

after_park park(worker& m) noexcept {
  if (m.proc) release_stacks(m, 1);  // while the P is idle nothing could use the others
  return m.sched().dispatcher().park(m);
}

}  // namespace

void thread_main(void* self) noexcept {
  worker& m = *static_cast<worker*>(self);
  os::ensure_alternate_stack();
  os::adopt_native_stack(m.native);
  m.exceptions = &os::this_threads_exceptions();
  set_current_worker(&m);
  os::happens_before(&m);  // strands read what is the thread's own, too
  for (auto next = after_park::sleep; next != after_park::end; next = park(m)) {
    if (next == after_park::sleep) {
      m.sleep();
      m.thread.use_all_processors();
    }
    if (!m.proc) continue;  // signalled to end: park says so
    while (fiber* const f = find_work(m)) execute(m, f);
  }
}

}  // namespace fj::inline v0_1::detail
