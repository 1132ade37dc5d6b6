// The processors of a simulation, and their deques.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "bench/simulate/strand.hpp"

#include "bench/simulate/in_pages.hpp"
#include "forkjoin/abi/cache_line.hpp"
#include "runtime/base/chaos.hpp"
#include "runtime/base/counters.hpp"
#include "runtime/sched/blocking_word.hpp"
#include "runtime/sched/run_queue.hpp"
#include "runtime/sched/timer_heap.hpp"
#include "runtime/sched/urgent.hpp"
#include "runtime/sched/yield_request.hpp"
#include "runtime/stacks/stack_cache.hpp"

namespace simulate {

/// What a P knows for simulate::adaptive_rule.
struct adaptive_state {
  unsigned forks = 0;        // in this interval
  std::uint64_t stolen = 0;  // from it, in all
  std::uint64_t stolen_before = 0;
  bool helps_first = true;
};

}  // namespace simulate

namespace fj { inline namespace v0_2 { namespace detail {

/// As of the runtime.
struct alignas(cache_line) processor {
  processor(unsigned number, unsigned of_node, deque::index capacity)
      : index(number), node(of_node), memory(capacity), active(&*memory) {}

  const unsigned index;
  const unsigned node;
  unsigned tick = 0, looks_at_timers = 0;
  std::uint32_t runs = 0;
  std::int64_t slice_began = 0;
  turn took = turn::in_order;
  detail::yield_request yield_request, urgent_request;  // no simulated strand is asked to give way
  urgent_time urgent;                                   // nor is one urgent
  detail::chaos chaos;
  run_queue<fiber> queue;  // always empty: simulated strands wait at joins only
  timer_heap timers;
  processor* next = nullptr;
  bool visited = false;
  basic_stack_cache<fiber> stacks;
  tallies count;
  const simulate::in_pages<deque> memory;
  os::atomic<deque*> active;
  blocking_word blocking;  // no simulated strand blocks
  simulate::adaptive_state adaptive;
};

/// As of the runtime. Looks at deques take time where a worker goes round in random order.
class processors {
 public:
  processors(unsigned count, unsigned nodes, bool near_first, deque::index capacity)
      : passes_(near_first && nodes > 1 ? 2 : 1) {
    for (unsigned i = 0; i < count; ++i) {
      all_.push_back(std::make_unique<processor>(i, i * nodes / count, capacity));
      if (std::gcd(i + 1, count) == 1) steps_.push_back(i + 1);
    }
  }

  unsigned count() const noexcept { return static_cast<unsigned>(all_.size()); }
  processor& operator[](unsigned index) noexcept { return *all_[index]; }

  std::uint32_t steps() const noexcept { return static_cast<std::uint32_t>(steps_.size()); }
  unsigned step(std::uint32_t index) const noexcept { return steps_[index]; }

  /// Calls visit(processor, deque) for each P as long as it returns true, a look after the one before.
  template <class Visit>
  void for_each(unsigned first, unsigned step, Visit visit) {
    simulate::timeline& time = simulate::timeline::current();
    const unsigned count = this->count(), near = node_of_self();
    for (unsigned pass = 0; pass < passes_; ++pass) {
      for (unsigned i = 0, at = first; i < count; ++i, at = at + step < count ? at + step : at + step - count) {
        const bool far = all_[at]->node != near;
        if (passes_ > 1 && far != (pass == 1)) continue;
        time.pass(far ? time.price.far_look : time.price.look);
        const looking now(time);
        if (!visit(*all_[at], all_[at]->active.load(std::memory_order_relaxed)->for_thieves())) return;
      }
    }
  }
  /// The same with visit(deque).
  template <class Visit>
  void for_each_deque(unsigned first, unsigned step, Visit visit) {
    for_each(first, step, [&visit](processor&, deque_thief& d) { return visit(d); });
  }

  /// The same all at once, by a worker that has announced that it parks: that costs `park`.
  template <class Visit>
  void for_each_deque(Visit visit) {
    const looking now(simulate::timeline::current());
    for (const auto& p : all_) visit(p->active.load(std::memory_order_relaxed)->for_thieves());
  }

 private:
  /// While a worker looks, loads do not wait for one another.
  class looking {
   public:
    explicit looking(simulate::timeline& time) noexcept
        : self_(time.self()), before_(std::exchange(self_.looks, true)) {}
    ~looking() { self_.looks = before_; }
    looking(const looking&) = delete;
    looking& operator=(const looking&) = delete;

   private:
    simulate::actor& self_;
    const bool before_;
  };

  static unsigned node_of_self() noexcept;  ///< of the worker whose turn it is

  const unsigned passes_;  ///< over all P in a round: near ones, then far ones
  std::vector<std::unique_ptr<processor>> all_;
  std::vector<unsigned> steps_;
};

}}}  // namespace fj::v0_2::detail

namespace simulate {

using fj::detail::processor;
using fj::detail::processors;

}  // namespace simulate
