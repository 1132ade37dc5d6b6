#include "runtime/instances.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <tuple>

#include "forkjoin/abi/maybe_yield.hpp"
#include "runtime/environment.hpp"
#include "runtime/fibers.hpp"
#include "runtime/flight_recorder.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/wait/outside_threads.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// No other thread may hold these mutexes while fork(2) copies them. The child process has none of the threads that
// sleep.
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
  yield_requests.store(0, std::memory_order_relaxed);                      // as no strand of a copy goes on
  after_fork();
}
[[maybe_unused]] const bool registered_instances = os::at_fork(&before_fork, &after_fork, &in_child);

}  // namespace

instance::instance(const options& wanted)
    : schedule_session(schedule_from(wanted)),
      scheduler(resolve(wanted)),
      prints(flag_from_environment("FORKJOIN_STATS", false) || wanted.stats) {
  flight_file = flight_recorder_file(wanted);
}

namespace {
constinit instances all_instances;
}

instances& known_instances() noexcept { return all_instances; }

// Where debuggers find the data of the library, which need no other information of it: gdb/forkjoin-gdb.py, which has
// the same order. Offsets in classes that have bases are no matter of the language, but of the ABI (Itanium C++ ABI,
// section 2.4), which all of our compilers follow.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

struct layout {
  const void* runtimes;
  std::uint32_t count;
  std::uint32_t offsets[26];

  static constexpr std::uint32_t waits(std::size_t of_part) noexcept {
    return static_cast<std::uint32_t>(offsetof(fiber, waits) + of_part);
  }
  static constexpr std::uint32_t narrow(std::size_t offset) noexcept { return static_cast<std::uint32_t>(offset); }
  static const layout of_this_library asm("forkjoin_v0_4_layout");
};

[[gnu::used]] constinit const layout layout::of_this_library{
    &all_instances,
    26,
    {
        narrow(offsetof(instances, all) + offsetof(decltype(instances::all), first_)),
        narrow(offsetof(instance, links) + offsetof(list_links<instance>, next)),
        narrow(offsetof(instance, stacks_)),
        narrow(offsetof(instance, small_stacks_)),
        narrow(offsetof(instance, large_stacks_) + offsetof(detail::large_stacks, pools_)),
        narrow(std::tuple_size_v<decltype(detail::large_stacks::pools_)>),
        narrow(offsetof(stack_pool, all_)),
        narrow(sizeof(fiber)),
        narrow(offsetof(fiber, mapped_before)),
        narrow(offsetof(fiber, number)),
        narrow(offsetof(fiber, state)),
        narrow(offsetof(fiber, mapping)),
        narrow(offsetof(fiber, guard_size)),
        narrow(offsetof(fiber, context) + offsetof(os::context, registers)),
        narrow(offsetof(fiber, begun)),
        narrow(offsetof(fiber, stolen)),
        narrow(offsetof(fiber, as_child) + offsetof(record_stand_in, stands_for)),
        narrow(offsetof(continuation, joined)),
        waits(offsetof(shown_wait_place, what_)),
        waits(offsetof(shown_wait_place, file_)),
        waits(offsetof(shown_wait_place, function_)),
        waits(offsetof(shown_wait_place, line_)),
        narrow(offsetof(fiber, whose)),
        narrow(offsetof(job, caller)),
        narrow(offsetof(worker, native) + offsetof(os::context, registers)),
        os::switches_by_assembly,
    }};

#pragma GCC diagnostic pop

std::string describe_all_fibers(const instances& known) {
  std::string text;
  for (instance* each = known.all.first(); each; each = known.all.after(*each))
    if (!each->is_forked_copy()) text += describe_fibers(*each);
  return text + describe_sleepers_outside();
}

void print_all_fibers(const instances& known) noexcept {
  try {
    os::print_error(describe_all_fibers(known).c_str());
    for (instance* each = known.all.first(); each; each = known.all.after(*each))
      if (!each->is_forked_copy()) write_flight(*each);
  } catch (const std::bad_alloc&) {
    os::print_error("forkjoin: there is no memory to say what the fibers of a runtime do\n");
  }
}

}}}  // namespace fj::v0_4::detail
