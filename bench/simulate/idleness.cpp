// Who sleeps and who wakes whom. runtime/schedule/scheduler.cpp and runtime/schedule/find_work.cpp have the original.
#include <algorithm>

#include "bench/simulate/simulation.hpp"

namespace simulate {

void simulation::start_spinning(processor& p) {
  if (p.spinning) return;
  p.spinning = true;
  parking_.start_spinning();
}

void simulation::stop_spinning(processor& p) {
  if (!p.spinning) return;
  p.spinning = false;
  parking_.stop_spinning();
  wake(p);
}

void simulation::wake(processor& p) {
  if (!parking_.begin_waking()) return;
  processor& woken = *idle_.back();  // there is one, or nobody would have begun to wake
  idle_.pop_back();
  parking_.processor_taken();
  parking_.thread_taken();
  woken.spinning = true;
  ++woken.count.wakeups;
  p.clock += price_.wake;
  if (woken.now == doing::parking) {
    woken.woken = true;  // it does not sleep yet
    return;
  }
  woken.now = doing::starting;
  woken.clock = std::max(woken.clock, p.clock + price_.wakeup);
  later(woken);
}

void simulation::ready(processor& p, fiber& g) {
  ready_.push_back(&g);
  wake(p);
}

fiber* simulation::take_ready() {
  if (ready_.empty()) return nullptr;
  fiber* const first = ready_.front();
  ready_.pop_front();
  return first;
}

void simulation::park(processor& p) {
  if (!ready_.empty()) return find_work(p);
  for (; p.stacks > 1; --p.stacks) --stacks_;
  ++p.count.parks;
  idle_.push_back(&p);
  parking_.processor_idle();
  if (p.spinning) {
    p.spinning = false;
    parking_.stop_spinning();
  }
  parking_.thread_available();
  p.clock += price_.park;
  p.now = doing::sleeping;
  if (parking_.idle() == static_cast<int>(chosen_.procs)) return;  // nobody works, so nobody forks
  for (const auto& other : processors_) other->active->alarm();
  p.clock += price_.membarrier;
  p.now = doing::parking;
  later(p);
}

void simulation::end_park(processor& p) {
  if (!p.woken) {
    const bool empty = ready_.empty() && std::all_of(processors_.begin(), processors_.end(),
                                                     [](const auto& other) { return other->active->looks_empty(); });
    if (empty) {
      p.now = doing::sleeping;
      return;
    }
    idle_.erase(std::find(idle_.begin(), idle_.end(), &p));
    parking_.processor_taken();
    parking_.thread_taken();
    start_spinning(p);
  }
  p.woken = false;
  find_work(p);
}

}  // namespace simulate
