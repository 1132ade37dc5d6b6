#include "runtime/sched/scheduler.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "forkjoin/abi/os/clock.hpp"
#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/topology.hpp"
#include "runtime/sched/contract.hpp"
#include "runtime/sched/yield_request.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

static_assert(world_for_rules<worker, processor, fiber, scheduler, threads, poller>);
static_assert(hooks_for_leaving<scheduler_hooks>);

scheduler::scheduler(const detail::settings& set)
    : settings_(set),
      made_at_(os::now_ns()),
      stacks_(set.stack_size, fibers_),
      small_stacks_(set.go_stack_size, fibers_, tuning::small_guard),
      large_stacks_(fibers_),
      deques_(set.stack_size, set.eager),
      processors_(set.procs, set.topology.empty() ? near_first() : near_first(os::cpu_places(set.topology.c_str()))),
      threads_(*this),
      dispatcher_(with_deques(), threads_, *poller_, set.max_workers, set.eager, set.chaos) {}

// Each P has its deque and its chaos before the dispatcher sees it.
processors& scheduler::with_deques() {
  for (unsigned i = 0; i < settings_.procs; ++i) {
    deque* const d = deques_.take();
    if (!d) throw std::bad_alloc();
    processors_[i].active.store(d, std::memory_order_relaxed);
    processors_[i].chaos.begin(settings_.chaos, i + 1);
    processors_[i].traces = &traces_;
    processors_[i].count.alone = &alone_;
    processors_[i].count.number = i;
  }
  alone_.watch(&processors_, [](const void* all, unsigned proc) noexcept {
    // acquire: as in processors.hpp: deque_of
    deque_thief& d = (*static_cast<const processors*>(all))[proc].active.load(std::memory_order_acquire)->for_thieves();
    return time_alone::loop_parts{.whose = &d, .begun = d.progress().made()};
  });
  return processors_;
}

// The monitor asks the strands on surplus P to give way. Where the system refuses its thread, they go on until they
// leave by themselves.
void scheduler::use_procs(unsigned procs) noexcept {
  if (procs == 0 && settings_.in_turns)
    procs = settings_.procs;  // a schedule depends on nothing outside of the program
  procs == 0 ? allowance_.follow() : allowance_.use(procs);
  if (procs == 0 || dispatcher_.has_surplus()) monitor_.watch();
}

void scheduler::begin_urgent() noexcept {
  dispatcher_.note_cuts();
  if (has_been_urgent_.load(std::memory_order_relaxed) || has_been_urgent_.exchange(true, std::memory_order_relaxed))
    return;
  yield_requests.fetch_add(1, std::memory_order_relaxed);
  monitor_.begin_urgent();
}

bool scheduler::is_unused() const noexcept {
  // acquire: pairs with the releases in end_job and end_last_job. First the jobs: the last one becomes a guest
  // before it ends.
  if (jobs_.load(std::memory_order_acquire) != 0) return false;
  // acquire: pairs with the release in ~guest
  return guests_.load(std::memory_order_acquire) == 0;
}

void scheduler::wait_until_unused() const noexcept {
  while (!is_unused()) os::yield_thread();
}

scheduler::~scheduler() {
  wait_until_unused();
  monitor_.end();
  dispatcher_.stop();
  threads_.join();
  traces_.end();
  if (has_been_urgent_.load(std::memory_order_relaxed)) yield_requests.fetch_sub(1, std::memory_order_relaxed);
  poller_->close();
  for (unsigned i = 0; i < settings_.procs; ++i) {
    stacks_.take_back(processors_[i].stacks, 0);
    small_stacks_.take_back(processors_[i].small_stacks, 0);
  }
  os::happens_after(this);
}

void scheduler::refuse_forked_copy() const noexcept {
  if (!is_forked_copy()) return;
  os::print_error(
      "forkjoin: fork(2) was called by code that runs in a runtime, and the child process went on there, where the "
      "other threads are missing; in the child call exec or _exit, or make a new fj::runtime on a thread of its "
      "own.\n");
  std::abort();
}

void scheduler::count_refused_retakes(unsigned count) noexcept {
  if (count == 0 || retakes_refused_.fetch_add(count, std::memory_order_relaxed) != 0) return;
  os::print_error(
      "forkjoin: a call of fj::blocking keeps its P from other work, because all threads that the runtime may start "
      "block or "
      "work. Raise fj::options::max_workers, or the system's limit on threads. This is said once.\n");
}

std::uint64_t scheduler::age() const noexcept { return static_cast<std::uint64_t>(os::now_ns() - made_at_); }

std::uint64_t scheduler::time_working() const noexcept { return working_.read(&os::now_ns); }

time_alone::times scheduler::times_alone() const noexcept { return alone_.read(os::now_ns()); }

void scheduler::begin_first_job() noexcept {
  const locked lock(working_mutex_);
  if (jobs_.fetch_add(1, std::memory_order_relaxed) == 0) working_.start(os::now_ns());
}

void scheduler::end_last_job() noexcept {
  const guest here(*this);
  const locked lock(working_mutex_);
  // release: pairs with the acquire in is_unused, by which the destructor then sees this guest
  if (jobs_.fetch_sub(1, std::memory_order_release) == 1) working_.stop(os::now_ns());
}

}}}  // namespace fj::v0_4::detail
