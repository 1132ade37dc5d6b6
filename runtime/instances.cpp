#include "runtime/instances.hpp"

#include <new>

#include "runtime/environment.hpp"
#include "runtime/fibers.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/wait/outside_threads.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

namespace {

// No other thread may hold these mutexes while fork(2) copies them. The child process has none of the threads that sleep.
void before_fork() FORKJOIN_UNANALYSED {
  known_instances().making_default.lock();
  known_instances().mutex.lock();
  sleepers_outside().mutex.lock();
}
void after_fork() FORKJOIN_UNANALYSED {
  sleepers_outside().mutex.unlock();
  known_instances().mutex.unlock();
  known_instances().making_default.unlock();
}
void in_child() FORKJOIN_UNANALYSED {
  sleepers_outside().all = {};
  sleepers_outside().others.store(0, std::memory_order_relaxed);
  known_instances().by_default.store(nullptr, std::memory_order_relaxed);  // a copy without threads
  after_fork();
}
[[maybe_unused]] const bool registered_instances = os::at_fork(&before_fork, &after_fork, &in_child);

}  // namespace

instance::instance(const options& wanted)
    : scheduler(resolve(wanted)), prints(flag_from_environment("FORKJOIN_STATS", false) || wanted.stats) {}

instances& known_instances() noexcept {
  static constinit instances known;
  return known;
}

void print_all_fibers(const instances& known) noexcept {
  try {
    for (instance* each = known.all.first(); each; each = known.all.after(*each))
      if (!each->is_forked_copy()) os::print_error(describe_fibers(*each).c_str());
    os::print_error(describe_sleepers_outside().c_str());
  } catch (const std::bad_alloc&) {
    os::print_error("forkjoin: there is no memory to say what the fibers of a runtime do\n");
  }
}

}}}  // namespace fj::v0_2::detail
