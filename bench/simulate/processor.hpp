// The processors of a simulation, and their deques.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "bench/simulate/strand.hpp"

#include "bench/simulate/in_pages.hpp"
#include "forkjoin/abi/cache_line.hpp"
#include "runtime/base/chaos.hpp"
#include "runtime/base/counters.hpp"
#include "runtime/sched/blocking_word.hpp"
#include "runtime/sched/processors.hpp"
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

namespace fj { inline namespace v0_4 { namespace detail {

/// As of the runtime.
struct alignas(cache_line) processor {
  /// Before anything else.
  void begin(unsigned number, unsigned of_node, deque::index capacity) {
    index = number;
    node = of_node;
    active.store(&*memory.emplace(capacity), std::memory_order_relaxed);
  }

  unsigned index = 0, node = 0;
  unsigned tick = 0, looks_at_timers = 0;
  std::uint32_t runs = 0;
  std::int64_t slice_began = 0;
  precedence took = precedence::in_order;
  std::uint64_t soon_until = 0;                         // nor does one go on soon
  detail::yield_request yield_request, urgent_request;  // no simulated strand is asked to give way
  urgent_time urgent;                                   // nor is one urgent
  detail::chaos chaos;
  run_queue<fiber> queue;  // always empty: simulated strands wait at joins only
  timer_heap timers;
  processor* next = nullptr;
  bool visited = false;
  basic_stack_cache<fiber> stacks;
  tallies count;
  std::optional<simulate::in_pages<deque>> memory;
  os::atomic<deque*> active{nullptr};
  blocking_word blocking;  // no simulated strand blocks
  simulate::adaptive_state adaptive;
};

/// A look takes time where a worker goes round in random order. A worker that has announced that it parks looks at all
/// deques at once: that costs `park`.
class looks_in_time {
 public:
  /// `near_first`: a round goes to the Ps of the worker's node first, then to the others.
  explicit looks_in_time(bool near_first) noexcept : passes_(near_first ? 2 : 1) {}

  using round = looks_in_time;
  const round& begin_round() const noexcept { return *this; }

  unsigned passes() const noexcept { return passes_; }
  bool takes_in(const processor& p, unsigned pass) const noexcept { return passes_ == 1 || is_far(p) == (pass == 1); }

  /// While a worker looks, loads do not wait for one another.
  class look {
   public:
    look(const looks_in_time&, const processor& p) noexcept : look(simulate::timeline::current(), &p) {}
    explicit look(const looks_in_time&) noexcept : look(simulate::timeline::current(), nullptr) {}
    ~look() { self_.looks = before_; }
    look(const look&) = delete;
    look& operator=(const look&) = delete;

   private:
    look(simulate::timeline& time, const processor* p) noexcept
        : self_(passed(time, p).self()), before_(std::exchange(self_.looks, true)) {}
    static simulate::timeline& passed(simulate::timeline& time, const processor* p) noexcept {
      if (p) time.pass(is_far(*p) ? time.price.far_look : time.price.look);
      return time;
    }

    simulate::actor& self_;
    const bool before_;
  };

 private:
  static bool is_far(const processor& p) noexcept { return p.node != node_of_self(); }
  static unsigned node_of_self() noexcept;  ///< of the worker whose turn it is

  unsigned passes_;
};

class processors : public basic_processors<processor, fixed_array, looks_in_time> {
 public:
  processors(unsigned count, unsigned nodes, bool near_first, deque::index capacity)
      : basic_processors(count, looks_in_time(near_first && nodes > 1)) {
    for (unsigned i = 0; i < count; ++i) (*this)[i].begin(i, i * nodes / count, capacity);
  }
};

}}}  // namespace fj::v0_4::detail

namespace simulate {

using fj::detail::processor;
using fj::detail::processors;

}  // namespace simulate
