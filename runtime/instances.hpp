// All runtimes of the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/options.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/replay.hpp"
#include "runtime/sched/scheduler.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Where a flight recorder writes; empty: there is none.
struct flight_place {
  std::string flight_file;
};

/// A scheduler, and what its runtime needs besides scheduling. Its threads begin and end while they take turns, if they
/// do, and the monitor's may write the flight recorder's file until it ends: so these are bases before the scheduler.
struct instance : schedule_session, flight_place, scheduler {
  explicit instance(const options& wanted);

  const bool prints;  ///< its statistics, at its end
  /// Of the process when it was made.
  const os::cpu_time before = prints ? os::time_of_threads() : os::cpu_time{};
  list_links<instance> links;  ///< among all
};

/// Never destroyed: the default runtime is not, and a signal may come while the process ends. In the copy that fork(2)
/// makes the mutexes are free.
struct instances {
  os::mutex making_default;                    ///< before `mutex`
  std::atomic<instance*> by_default{nullptr};  ///< changed under making_default
  options default_options FORKJOIN_GUARDED_BY(making_default);
  bool attends_exit FORKJOIN_GUARDED_BY(making_default) = false;
  os::mutex mutex;
  linked_list<instance, &instance::links> all FORKJOIN_GUARDED_BY(mutex);
};
instances& known_instances() noexcept;

/// Calls visit(fiber) for each that waits, of all runtimes that are no forked copies. They work meanwhile: it may go on
/// before the call.
template <class Visit>
void for_each_waiting_fiber(const instances& known, Visit visit) FORKJOIN_REQUIRES(known.mutex) {
  for (instance* each = known.all.first(); each; each = known.all.after(*each)) {
    if (each->is_forked_copy()) continue;
    each->for_each_fiber([&](const fiber& f) {
      if (f.state == fiber_state::waiting) visit(f);
    });
  }
}

/// What each P and each fiber does, of all that are no forked copies, and what threads outside wait for. Throws
/// std::bad_alloc.
std::string describe_all_fibers(const instances& known) FORKJOIN_REQUIRES(known.mutex);

/// Prints that, and what their flight recorders have.
void print_all_fibers(const instances& known) noexcept FORKJOIN_REQUIRES(known.mutex);

}}}  // namespace fj::v0_4::detail
