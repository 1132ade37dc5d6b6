#include "bench/simulate/simulation.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/base/tuning.hpp"

namespace simulate {

namespace {

unsigned checked(unsigned procs) {
  if (procs < 1 || procs > 4096)
    throw std::invalid_argument("the number of processors is " + std::to_string(procs) +
                                "; set it to a number from 1 to 4096");
  return procs;
}

// A worker that finds nothing would look again and again at one moment, and no other worker would go on.
void check(const setup& chosen) {
  if (chosen.nodes < 1 || chosen.nodes > chosen.procs)
    throw std::invalid_argument("the number of nodes is " + std::to_string(chosen.nodes) +
                                "; set it to a number from 1 to that of the processors, " +
                                std::to_string(chosen.procs));
  if (!(chosen.cost.far >= 1))
    throw std::invalid_argument("the cost far is " + std::to_string(chosen.cost.far) + "; set it to 1 or more");
  for (const auto& [name, value] : {std::pair("complex", chosen.cost.complex), std::pair("misses", chosen.cost.misses)})
    if (!(value >= 1))
      throw std::invalid_argument("the cost " + std::string(name) + " is " + std::to_string(value) +
                                  "; set it to 1 or more");
  if (ps(chosen.cost.round) > 0 || chosen.procs == 1) return;
  throw std::invalid_argument(
      "the cost round is " + std::to_string(chosen.cost.round) +
      " ns, and with more than one processor the simulation would never end; set it to 0.001 or "
      "more");
}

deque::index capacity_of(const costs& cost) {
  const auto most = static_cast<deque::index>(cost.stack_bytes) / fj::detail::tuning::least_frame;
  return std::clamp<deque::index>(most, 64, deque::max_capacity);
}

}  // namespace

std::span<const policy_name> all_policies() noexcept {
  static constexpr policy_name all[] = {
      {"continuations", policy::continuations},
      {"tasks", policy::tasks},
      {"first_top", {order::first_child_first, join::run_on_top}},
      {"first_leap", {order::first_child_first, join::leapfrog}},
      {"last_leave", {order::last_child_first, join::leave_stack}},
      {"last_leap", {order::last_child_first, join::leapfrog}},
#ifdef FORKJOIN_JOIN_RULE
      {"first_own", {order::first_child_first, join::own}},
      {"last_own", {order::last_child_first, join::own}},
#endif
  };
  return all;
}

std::string_view name_of(policy p) noexcept {
  return p == policy::adaptive ? "adaptive" : std::ranges::find(all_policies(), p, &policy_name::is)->name;
}

// With the caller of run there are as many workers as P. Those that are awake at the start are not the dispatcher's to
// start.
simulation::simulation(const kernel& k, const setup& chosen)
    : scheduler({.procs = checked(chosen.procs), .max_workers = chosen.awake ? 0 : chosen.procs - 1}, chosen),
      kernel_(k),
      chosen_(chosen) {
  time_.lines().add_common(&pool_, sizeof pool_);
}

result simulation::run() {
  job_ = &take_stack();
  enter(*job_, kernel_.root(), caller::outside);
  for (unsigned i = 0; i < (chosen_.awake ? chosen_.procs : 1); ++i) {
    worker& m = add_worker();
    dispatcher_.take_processor(m, processors_[i]);
    m.works = i == 0;
    if (!m.works) dispatcher_.start_spinning(m);
    m.signalled = true;
    time_.resume(m, 0);
  }
  time_.run();
  if (error_) std::rethrow_exception(error_);
  if (!over_) throw std::logic_error("simulate: all workers sleep before the end of the job");
  fj::counters all;
  for (unsigned i = 0; i < chosen_.procs; ++i) all += processors_[i].count.read(&fj::detail::os::now_ns);
  result_.count = {.steals = all.steals,
                   .suspensions = all.suspensions,
                   .resumptions = all.resumptions,
                   .join_waits = all.join_waits,
                   .exposures = all.exposures,
                   .publications = all.publications,
                   .slow_pushes = all.slow_pushes,
                   .slow_pops = all.slow_pops,
                   .parks = all.parks,
                   .wakeups = all.wakeups};
  result_.waits = {time_.lines().waited().common, time_.lines().waited().others};
  return result_;
}

// On the worker's stack.
void simulation::worker_main(void* self) {
  timeline::current().begin();
  worker& m = *static_cast<worker*>(self);
  if (m.works) worker_loop::execute(m, static_cast<simulation&>(m.sched()).job_);
  worker_loop::run(m);
}

worker& simulation::add_worker() {
  workers_.push_back(std::make_unique<worker>(*this, static_cast<unsigned>(workers_.size()), chosen_.seed));
  worker& m = *workers_.back();
  time_.add(m, &worker_main, &m);
  return m;
}

worker* simulation::start_worker() noexcept {
  time_.pass(time_.price.wake);
  worker* started = nullptr;
  or_stop([&] { started = &add_worker(); });
  return started;
}

result simulate_run(const kernel& k, const setup& chosen) {
  check(chosen);
  return simulation(k, chosen).run();
}

}  // namespace simulate

namespace fj { inline namespace v0_4 { namespace detail {

scheduler::scheduler(const detail::settings& set, const simulate::setup& chosen)
    : settings_(set),
      time_({chosen.cost, chosen.steals.order == simulate::order::last_child_first}, chosen.procs, chosen.nodes,
            chosen.runs_ahead),
      processors_(set.procs, chosen.nodes, chosen.near_first, simulate::capacity_of(chosen.cost)),
      dispatcher_(processors_, threads_, poller_, set.max_workers, set.eager) {
  time_.lines().add_common(&dispatcher_, sizeof dispatcher_);
}

worker* threads::start(waker) noexcept { return static_cast<simulate::simulation&>(whose).start_worker(); }

}}}  // namespace fj::v0_4::detail
