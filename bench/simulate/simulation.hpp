// The state of one simulation: what the runtime's scheduling rules know as the scheduler, and the strands.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <unordered_map>
#include <vector>

#include "bench/simulate/hooks.hpp"

#include "bench/simulate/simulator.hpp"
#include "bench/simulate/timeline.hpp"
#include "runtime/base/settings.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// What the rules ask of the workers' shared data.
class scheduler {
 public:
  scheduler(const detail::settings& set, const simulate::setup& chosen);

  const detail::settings& settings() const noexcept { return settings_; }
  detail::dispatcher& dispatcher() noexcept { return dispatcher_; }
  processors& all() noexcept { return processors_; }
  detail::threads& threads() noexcept { return threads_; }
  os::mutex& forcing() noexcept { return forcing_; }
  void refuse_forked_copy() const noexcept {}

 protected:
  const detail::settings settings_;
  simulate::timeline time_;  // it begins first
  alignas(cache_line) processors processors_;
  detail::threads threads_{*this};
  detail::poller poller_;
  detail::dispatcher dispatcher_;
  alignas(cache_line) os::mutex forcing_;
};

}}}  // namespace fj::v0_4::detail

#include "runtime/sched/find.hpp"
#include "runtime/sched/loop.hpp"
#include "runtime/sched/owner.hpp"

#include "runtime/sched/contract.hpp"

namespace fj { inline namespace v0_4 { namespace detail {
static_assert(world_for_rules<worker, processor, fiber, scheduler, threads, poller>);
static_assert(hooks_for_rules<scheduler_hooks>);
}}}  // namespace fj::v0_4::detail

namespace simulate {

using fj::detail::owner_steps;
using fj::detail::scheduler_hooks;
using fj::detail::work_on_top;
using fj::detail::worker_loop;

class simulation : public fj::detail::scheduler {
 public:
  simulation(const kernel& k, const setup& chosen);

  result run();

  worker* start_worker() noexcept;

  // Of scheduler_hooks, by a worker.
  bool prepare_stack(worker& m) noexcept;
  void release_stacks(worker& m, std::size_t but) noexcept;
  fiber* begin(worker& m, const stolen_record& what) noexcept;
  fiber* switch_to(worker& m, fiber& f) noexcept;

 private:
  worker& add_worker();
  static void worker_main(void* self);

  // strand.cpp: what a strand does.
  fiber* run_strand(worker& m);
  bool forks_last_first(worker& m) noexcept;
  void next_step(worker& m, frame& f);
  void push(worker& m, frame& f);
  void pop_slow(worker& m, frame& f);
  bool is_joined(frame& f) noexcept;
  void join(worker& m, frame& f);
  void go_on(worker& m, frame& f);
  void arrive_early(worker& m, std::uint32_t iterations_left);
  stolen_record find_on_top(worker& m, frame& f) noexcept;
  void run_on_top(worker& m, frame& record);
  void begin_sections(frame& f);
  frame& enter_side(const worker& m, fiber& g, frame& f, bool other, caller by);
  frame& enter_section(const worker& m, fiber& g, frame& loop, caller by);
  void run_part(const worker& m, const loop_parts& parts, bool right);
  void run_here(worker& m, frame& f);
  void run_other(worker& m, frame& f);
  fiber* arrive(worker& m, frame& f);
  picoseconds price_of_theft(const worker& m, const frame& record) noexcept;
  bool is_far(const worker& m, const frame& of) noexcept;
  frame& enter(fiber& g, const node& self, caller by);
  void leave_frame(fiber& g) noexcept;

  bool pool_seems_empty() const noexcept;
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
  alignas(fj::detail::cache_line) job whole_;  // so that no result depends on what lies beside it
  fiber* job_ = nullptr;
  std::vector<std::unique_ptr<worker>> workers_;
  std::vector<std::unique_ptr<fiber>> fibers_;
  alignas(fj::detail::cache_line) fj::detail::os::mutex pool_;  // of the free stacks
  std::vector<fiber*> free_fibers_;
  std::unordered_map<std::uint32_t, std::vector<unsigned>> parts_;  // by the size of the loop: the P that ran each last
  std::uint64_t stacks_ = 0, frames_ = 0;
  step step_;
  bool over_ = false;
  std::exception_ptr error_;
  result result_;
};

}  // namespace simulate
