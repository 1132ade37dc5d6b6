// The state of one simulation: what the runtime's scheduling templates know as the scheduler, and the strands.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "bench/simulate/processor.hpp"
#include "bench/simulate/simulator.hpp"
#include "bench/simulate/strand.hpp"
#include "bench/simulate/system.hpp"
#include "bench/simulate/timeline.hpp"
#include "bench/simulate/worker.hpp"
#include "runtime/base/settings.hpp"
#include "runtime/sched/dispatcher.hpp"
#include "runtime/sched/find.hpp"
#include "runtime/sched/loop.hpp"
#include "runtime/sched/owner.hpp"

namespace simulate {

class simulation {
 public:
  simulation(const kernel& k, const setup& chosen);

  result run();

  // As fj::detail::scheduler.
  using dispatcher_type = fj::detail::basic_dispatcher<system>;
  const fj::detail::settings& settings() const noexcept { return settings_; }
  dispatcher_type& dispatcher() noexcept { return dispatcher_; }
  processors& all() noexcept { return processors_; }
  machine::mutex& exposing() noexcept { return exposing_; }
  no_monitor& monitor() noexcept { return monitor_; }
  void refuse_forked_copy() const noexcept {}

  worker* start_worker() noexcept;

  // Of system, by a worker.
  bool prepare_stack(worker& m) noexcept;
  void release_stacks(worker& m, std::size_t but) noexcept;
  fiber* begin(worker& m, const deque::stolen_record& what) noexcept;
  fiber* switch_to(worker& m, fiber& f) noexcept;

 private:
  using owner = fj::detail::basic_owner<system>;
  using work_on_top = fj::detail::basic_work_on_top<system>;
  using worker_loop = fj::detail::basic_worker_loop<system>;

  worker& add_worker();
  static void worker_main(void* self);

  // strand.cpp: what a strand does.
  fiber* run_strand(worker& m);
  void next_step(worker& m, frame& f);
  void push(worker& m, frame& f);
  void pop_slow(worker& m, frame& f);
  void join(worker& m, frame& f);
  void run_on_top(worker& m, frame& record);
  void run_here(worker& m, frame& f);
  void run_other(worker& m, frame& f);
  fiber* arrive(worker& m, frame& f);
  frame& enter(fiber& g, const node& self, caller by);
  void leave_frame(fiber& g) noexcept;

  fiber& take_stack();
  void give_stack(fiber& idle) noexcept;

  // For what may throw, on a worker's stack: ends the simulation, and run throws it.
  template <class F>
  void or_stop(F act) noexcept {
    try {
      return act();
    } catch (...) {
      error_ = std::current_exception();
    }
    time_.stop();
  }

  const kernel& kernel_;
  const setup chosen_;
  const std::size_t deep_;  // calls on a stack from which on nothing runs on top
  const fj::detail::settings settings_;
  timeline time_;
  processors processors_;
  threads threads_;
  no_poller poller_;
  no_monitor monitor_;
  dispatcher_type dispatcher_;
  machine::mutex exposing_;
  root root_;
  fiber* job_ = nullptr;
  std::vector<std::unique_ptr<worker>> workers_;
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<fiber*> free_fibers_;
  std::uint64_t stacks_ = 0, frames_ = 0;
  step step_;
  bool over_ = false;
  std::exception_ptr error_;
  result result_;
};

}  // namespace simulate
