// The library offers what the rules and protocols ask for. So do the models (test/model) and the simulator
// (bench/simulate), each for what it compiles.

#include "runtime/os/waits_contract.hpp"
#include "runtime/sched/contract.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/strand/contract.hpp"
#include "runtime/wait/contract.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

static_assert(machine_for_waits<os::atomic, os::mutex>);
static_assert(world_for_rules<worker, processor, fiber, scheduler, threads, poller>);
static_assert(hooks_for_leaving<scheduler_hooks>);
static_assert(hooks_for_strands<strand_hooks>);
static_assert(hooks_for_waits<wait_hooks>);

}}}  // namespace fj::v0_2::detail
