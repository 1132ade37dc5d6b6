// A worker of a simulation: a thread, on a stack of its own.
#pragma once

#include <cstdint>

#include "bench/simulate/processor.hpp"
#include "bench/simulate/timeline.hpp"
#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/relaxed.hpp"
#include "runtime/base/random.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class scheduler;

/// No simulated strand waits for an event.
struct no_events {
  bool any() const noexcept { return false; }
};

/// As of the runtime.
struct worker : simulate::actor {
  worker(scheduler& whose, unsigned number, std::uint64_t seed)
      : simulate::actor(number), dice(simulate::random_at(seed) + number), whose_(whose) {}

  scheduler& sched() const noexcept { return whose_; }
  tallies& count() noexcept { return proc->count; }

  /// The caller of run is a worker like the others.
  bool is_caller() const noexcept { return false; }

  void sleep() noexcept {
    simulate::timeline& time = simulate::timeline::current();
    if (!signalled) time.pass(time.price.park);
    sleeps_now_ = !signalled;
    if (sleeps_now_) time.wait();
    signalled = false;
  }

  void signal() noexcept {
    signalled = true;
    simulate::timeline& time = simulate::timeline::current();
    if (std::exchange(sleeps_now_, false)) time.resume(*this, time.self().clock + time.price.wakeup);
  }

  relaxed<processor*> proc = nullptr;
  relaxed<bool> spinning = false;
  relaxed<bool> yielded = false;
  bool asleep = false;
  std::int64_t wakes_at = never;  // no simulated strand waits for a time
  no_events polled;
  list_links<worker> sleeps;
  job* brought = nullptr;
  fiber* running = nullptr;
  detail::random dice;
  std::int64_t stolen_at = 0;
  std::int64_t shared_at = 0;
  bool signalled = false;

 private:
  scheduler& whose_;
  bool sleeps_now_ = true;  // a new thread does not run before it is signalled
};

inline unsigned looks_in_time::node_of_self() noexcept {
  return static_cast<worker&>(simulate::timeline::current().self()).proc->node;
}

}}}  // namespace fj::v0_4::detail

namespace simulate {

using fj::detail::worker;

}  // namespace simulate
