// How an fj::select does one of its cases: it takes all locks, does a case that is ready, or waits in all queues at
// once. forkjoin/abi/select.hpp has the cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>

#include "forkjoin/abi/os/thread_safety.hpp"
#include "forkjoin/abi/select.hpp"
#include "forkjoin/abi/wait_queue.hpp"
#include "runtime/sched/timer_heap.hpp"
#include "runtime/wait/hooks.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Source of the protocol: Go's runtime/select.go. All locks are taken in the order of their addresses. All cases
/// share one waiter; the first strand that claims it, for whichever case, ends the wait.
class selection {
 public:
  using result = select_result;

  /// Does the first case, in random order, that is ready; if none is and `waits`, waits for one. `places`: as many as
  /// cases. Throws std::bad_alloc.
  static result one_of(std::span<select_case* const> cases, std::span<select_place> places, bool waits,
                       const wait_limits& limits) {
    all_locks locks(cases, places);
    shuffle(places);
    std::unique_lock held(locks);
    for (const select_place& each : places) {
      select_case& c = *cases[each.number];
      if (!c.lock && (c.at == never || c.at > os::now_ns())) continue;
      if (!c.lock) return {wait_end::served, &c, false};
      const channel_attempt got = c.attempt(c);
      if (!got.done) continue;
      held.unlock();
      if (got.wake) got.wake->of.wake();
      return {wait_end::served, &c, got.closed};
    }
    if (!waits) return {};
    wait_limits earliest = limits;
    const select_case* timed = nullptr;
    for (const select_case* const c : cases) {
      if (c->lock || c->at >= earliest.until) continue;
      earliest.until = c->at;
      timed = c;
    }
    waiter here(earliest);
    // In random order: of several cases on one channel the first is served.
    for (const select_place& each : places) {
      const select_case& c = *cases[each.number];
      if (c.lock) c.queue->push(places[each.number].entry.emplace(here, each.number, c.item));
    }
    held.unlock();
    const unsigned winner = here.wait();
    held.lock();
    for (unsigned i = 0; i < cases.size(); ++i)
      if (places[i].entry) cases[i]->queue->remove_if_queued(*places[i].entry);
    held.unlock();
    if (winner == wait_winners::timed_out && timed) return {wait_end::served, timed, false};
    if (winner >= wait_winners::first_limit) return {.end = wait_winners::end_by(winner)};
    return {wait_end::served, cases[winner], places[winner].entry->refused};
  }

 private:
  // Each lock once, though several cases may be on one channel.
  class all_locks {
   public:
    all_locks(std::span<select_case* const> cases, std::span<select_place> places) : places_(places) {
      // Shell's sort with Knuth's gaps (TAOCP 5.2.1): an entry cannot move, only the locks do. For few it is an
      // insertion sort.
      std::size_t gap = 1;
      while (gap < cases.size() / 3) gap = 3 * gap + 1;
      for (std::size_t i = 0; i < cases.size(); ++i) places[i].lock = cases[i]->lock;
      for (; gap > 0; gap /= 3) {
        for (std::size_t i = gap; i < cases.size(); ++i) {
          os::mutex* const lock = places[i].lock;
          std::size_t at = i;
          for (; at >= gap && std::less<>()(lock, places[at - gap].lock); at -= gap)
            places[at].lock = places[at - gap].lock;
          places[at].lock = lock;
        }
      }
    }

    void lock() noexcept {
      for_each([](os::mutex& m) FORKJOIN_UNANALYSED { m.lock(); });
    }
    void unlock() noexcept {
      for_each([](os::mutex& m) FORKJOIN_UNANALYSED { m.unlock(); });
    }

   private:
    template <class Visit>
    void for_each(Visit visit) noexcept {
      const os::mutex* before = nullptr;
      for (const select_place& each : places_) {
        if (each.lock && each.lock != before) visit(*each.lock);
        before = each.lock;
      }
    }

    std::span<select_place> places_;
  };

  // Fisher and Yates.
  static void shuffle(std::span<select_place> places) noexcept {
    for (unsigned i = 0; i < places.size(); ++i) {
      const unsigned j = wait_hooks::random_below(i + 1);
      places[i].number = places[j].number;
      places[j].number = i;
    }
  }
};

}}}  // namespace fj::v0_4::detail
