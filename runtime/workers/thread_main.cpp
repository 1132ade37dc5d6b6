#include "runtime/workers/thread_main.hpp"

#include "runtime/fork/current.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/schedule/loops/loop.hpp"
#include "runtime/workers/scheduler.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

void thread_main(void* self) noexcept {
  worker& m = *static_cast<worker*>(self);
  os::ensure_alternate_stack();
  os::adopt_native_stack(m.native);
  m.exceptions = &os::this_threads_exceptions();
  set_current_worker(&m);
  os::happens_before(&m);  // strands read what is the thread's own, too
  basic_worker_loop<system>::run(m);
  set_current_worker(nullptr);  // destructors of thread_local variables run outside of any runtime
}

}}}  // namespace fj::v0_2::detail
