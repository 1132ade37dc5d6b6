// A worker of a simulation: a thread, on a stack of its own.
#pragma once

#include <cstdint>

#include "bench/simulate/processor.hpp"
#include "bench/simulate/timeline.hpp"
#include "runtime/base/list.hpp"
#include "runtime/base/random.hpp"
#include "runtime/base/relaxed.hpp"

namespace simulate {

class simulation;

/// No simulated strand waits for an event.
struct no_events {
  bool any() const noexcept { return false; }
};

/// As fj::detail::worker.
struct worker : actor {
  worker(simulation& whose, unsigned number, std::uint64_t seed)
      : actor(number), dice(random_at(seed) + number), whose_(whose) {}

  simulation& sched() const noexcept { return whose_; }
  fj::detail::tallies& count() noexcept { return proc->count; }

  /// The caller of run is a worker like the others.
  bool is_caller() const noexcept { return false; }

  void sleep() noexcept {
    timeline& time = timeline::current();
    if (!signalled) time.pass(time.price.park);
    sleeps_now_ = !signalled;
    if (sleeps_now_) time.wait();
    signalled = false;
  }

  void signal() noexcept {
    signalled = true;
    timeline& time = timeline::current();
    if (std::exchange(sleeps_now_, false)) time.resume(*this, time.self().clock + time.price.wakeup);
  }

  fj::detail::relaxed<processor*> proc = nullptr;
  fj::detail::relaxed<bool> spinning = false;
  fj::detail::relaxed<bool> yielded = false;
  bool asleep = false;
  std::int64_t wakes_at = fj::detail::never;  // no simulated strand waits for a time
  no_events polled;
  fj::detail::list_links<worker> sleeps;
  root* brought = nullptr;
  fiber* running = nullptr;
  fj::detail::random dice;
  std::int64_t stolen_at = 0;
  std::int64_t published_at = 0;
  bool signalled = false;

 private:
  simulation& whose_;
  bool sleeps_now_ = true;  // a new thread does not run before it is signalled
};

}  // namespace simulate
