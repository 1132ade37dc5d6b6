// Which thread goes on, and which of the values that it may read it reads: at random.
//
// Relacy's own random scheduler changes the thread at every access. Many bugs need one thread to stand still for a
// long time, so here each run draws how eagerly it switches.
#pragma once

#include <cstdint>

#include "test/model/relacy.hpp"

namespace model {

template <rl::thread_id_t count>
class random_search : public rl::scheduler<random_search<count>, rl::scheduler_thread_info, count> {
 public:
  using base = rl::scheduler<random_search<count>, rl::scheduler_thread_info, count>;
  using typename base::shared_context_t;
  using typename base::thread_info_t;
  struct task_t {};

  random_search(rl::test_params& params, shared_context_t& context, rl::thread_id_t dynamic_threads)
      : base(params, context, dynamic_threads) {}

  // What the base calls.

  rl::thread_id_t iteration_begin_impl() {
    state_ = this->iter_;
    stays_ = 1 + draw(12);
    return this->running_threads[draw(this->running_threads_count)];
  }

  bool iteration_end_impl() { return this->iter_ == this->params_.iteration_count; }

  rl::thread_id_t schedule_impl(rl::unpark_reason& reason, unsigned yield) {
    reason = rl::unpark_reason_normal;
    const thread_info_t& now = *this->thread_;
    const bool runs = now.state_ == rl::thread_state_running;
    if (runs && !yield && draw(stays_) != 0) return now.index_;
    rl::thread_id_t next = 0;
    do next = this->running_threads[draw(this->running_threads_count)];
    while (yield && runs && next == now.index_ && this->running_threads_count > 1);
    return next;
  }

  unsigned rand_impl(unsigned limit, rl::sched_type) { return draw(limit); }
  rl::iteration_t iteration_count_impl() { return this->params_.iteration_count; }
  void get_state_impl(std::ostream&) {}
  void set_state_impl(std::istream&) {}
  void on_thread_block(rl::thread_id_t, bool) {}

 private:
  // Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (2014), as SplitMix64.
  unsigned draw(unsigned limit) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<unsigned>(((z ^ (z >> 31)) >> 32) * limit >> 32);
  }

  std::uint64_t state_ = 0;
  unsigned stays_ = 1;
};

}  // namespace model
