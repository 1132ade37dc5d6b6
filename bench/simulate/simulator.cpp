#include "bench/simulate/simulator.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "bench/simulate/simulation.hpp"

namespace simulate {

namespace {

deque::index capacity_of(const costs& cost) {
  return std::clamp<deque::index>(static_cast<deque::index>(cost.stack_bytes) / least_frame, 64, deque::max_capacity);
}

}  // namespace

std::string_view name_of(policy p) noexcept { return p == policy::continuations ? "continuations" : "tasks"; }

simulation::prices::prices(const setup& chosen)
    : fork(ps(chosen.steals == policy::continuations ? chosen.cost.fork : chosen.cost.fork_tasks)),
      slow_push(ps(chosen.cost.slow_push)),
      slow_pop(ps(chosen.cost.slow_pop)),
      look(ps(chosen.cost.look)),
      round(ps(chosen.cost.round)),
      steal(ps(chosen.cost.steal)),
      arrive(ps(chosen.cost.arrive)),
      ended(ps(chosen.cost.ended)),
      suspend(ps(chosen.cost.suspend)),
      resume(ps(chosen.cost.resume)),
      membarrier(ps(chosen.cost.membarrier)),
      park(ps(chosen.cost.park)),
      wake(ps(chosen.cost.wake)),
      wakeup(ps(chosen.cost.wakeup)) {}

simulation::simulation(const kernel& k, const setup& chosen)
    : kernel_(k),
      chosen_(chosen),
      price_(chosen),
      deep_(static_cast<std::size_t>(chosen.cost.stack_bytes / 2 / std::max(chosen.cost.frame_bytes, 1.0))),
      agenda_(price_.look) {
  if (chosen.procs < 1 || chosen.procs > 4096)
    throw std::invalid_argument("the number of processors is " + std::to_string(chosen.procs) +
                                "; set it to a number from 1 to 4096");
  for (unsigned i = 0; i < chosen.procs; ++i) {
    processors_.push_back(std::make_unique<processor>(i, chosen.seed, capacity_of(chosen.cost)));
    if (std::gcd(i + 1, chosen.procs) == 1) steps_.push_back(i + 1);
  }
  for (unsigned i = chosen.procs; i-- > 0;) {
    idle_.push_back(processors_[i].get());
    parking_.processor_idle();
  }
  parking_.thread_available(static_cast<int>(chosen.procs));
}

result simulation::run() {
  // The caller takes a P and works itself.
  processor& first = *idle_.back();
  idle_.pop_back();
  parking_.processor_taken();
  fiber& job = *take_stack();
  enter(job, kernel_.root(), caller::outside);
  count_stack();
  switch_to(first, job);
  later(first);
  while (chosen_.awake && !idle_.empty()) {
    processor& p = *idle_.back();
    idle_.pop_back();
    parking_.processor_taken();
    parking_.thread_taken();
    start_spinning(p);
    p.now = doing::starting;
    later(p);
  }
  while (!over_) act(*processors_[agenda_.take()]);
  for (const auto& p : processors_) {
    result_.count += p->count;
    result_.worked += p->worked;
  }
  result_.waits = result_.count.join_waits;
  if (chosen_.steals == policy::continuations) result_.waits = result_.count.suspensions;
  return result_;
}

void simulation::act(processor& p) {
  switch (p.now) {
    case doing::running:
      return run_strand(p);
    case doing::starting:
      return find_work(p);
    case doing::pausing:
    case doing::waiting:
      return wait_for_turn(p);
    case doing::looking:
    case doing::looking_on_top:
      return look_around(p);
    case doing::exposing:
      return end_expose(p);
    case doing::giving_up:
      return park(p);
    case doing::parking:
      return end_park(p);
    case doing::sleeping:
    case doing::held_up:
      break;
  }
  throw std::logic_error("simulate: a processor that sleeps was on the agenda");
}

fiber* simulation::take_stack() {
  if (free_fibers_.empty()) {
    fibers_.push_back(std::make_unique<fiber>());
    return fibers_.back().get();
  }
  fiber* const f = free_fibers_.back();
  free_fibers_.pop_back();
  return f;
}

void simulation::give_stack(fiber* idle) { free_fibers_.push_back(idle); }

void simulation::count_stack() { result_.peak_stacks = std::max(result_.peak_stacks, ++stacks_); }

result simulate_run(const kernel& k, const setup& chosen) { return simulation(k, chosen).run(); }

}  // namespace simulate
