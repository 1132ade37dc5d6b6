// How a P changes hands: its worker gives it up, or a thread takes it from a strand that is in a blocking call.
#pragma once

#include <atomic>
#include <cstdint>

#include "idle.hpp"
#include "machine.hpp"
#include "matching.hpp"
#include "parking.hpp"
#include "ready_queue.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// What became of a try to take a P from a strand that is in a blocking call.
enum class retaken { taken, came_back, no_thread };

/// All of it with the dispatcher's mutex held.
template <scheduling_machine Machine>
class basic_handoff {
 public:
  using deque = typename Machine::deque;
  using matching = basic_matching<Machine>;
  using processor = typename Machine::processor;
  using processors = typename Machine::processors;
  using worker = typename Machine::worker;

  basic_handoff(processors& all, basic_idle<Machine>& idle, basic_ready_queue<Machine>& ready, matching& threads,
                basic_parking<Machine>& counts) noexcept
      : all_(all), idle_(idle), ready_(ready), matching_(threads), counts_(counts) {}

  /// The P goes to the sleeping worker that is returned, if something is ready. Else nullptr, and the P is idle.
  worker* give_up(processor& p) noexcept {
    ready_.move_here(p.queue);
    // A P for which something is ready is never idle.
    worker* const next = ready_.any() ? idle_.take_thread() : nullptr;
    if (next) {
      next->spinning = true;
      counts_.start_spinning();
      matching::give(*next, p);
    } else {
      idle_.put_processor(p);
    }
    return next;
  }

  /// Takes the P of a strand that is in that call and gives it up, with the records that the strand has in its deque.
  /// `only_with_thread`: not if no thread could run what there is. `next`: what give_up returned.
  retaken retake(processor& p, std::uint64_t call, bool only_with_thread, worker*& next) noexcept {
    if (only_with_thread && !matching_.thread_for_ready() && !idle_.caller_with_records(all_))
      return retaken::no_thread;
    auto* const strand = p.blocking.retake(call);
    if (!strand) return retaken::came_back;
    ++p.count.retakes;
    deque* const records = p.active.load(std::memory_order_relaxed);
    if (!Machine::seems_empty(*records)) {
      strand->records = records;  // as left_records::leave
      ready_.push_marker(*strand);
      // release: pairs with the acquire in for_each_deque
      p.active.store(p.spare_deque.replace(nullptr), std::memory_order_release);
    }
    next = give_up(p);
    return retaken::taken;
  }

 private:
  processors& all_;
  basic_idle<Machine>& idle_;
  basic_ready_queue<Machine>& ready_;
  matching& matching_;
  basic_parking<Machine>& counts_;
};

}}}  // namespace fj::v0_2::detail
