#include "runtime/wait/select.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

#include "runtime/base/random.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/wait/disturb.hpp"
#include "runtime/workers/worker.hpp"

namespace fj::inline v0_1::detail {

namespace {

// Each lock once, though several cases may be on one channel.
class all_locks {
 public:
  all_locks(std::span<select_case* const> cases, std::span<select_place> places) : places_(places) {
    // Insertion sort: there are few, and an entry cannot move.
    for (std::size_t i = 0; i < cases.size(); ++i) {
      std::size_t at = i;
      for (; at > 0 && std::less<>()(cases[i]->lock, places[at - 1].lock); --at) places[at].lock = places[at - 1].lock;
      places[at].lock = cases[i]->lock;
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

// Apart, because strands that share a thread must not share the variable that says whether these have been made.
[[gnu::noinline]] random& dice_of_thread() noexcept {
  thread_local random outside(reinterpret_cast<std::uintptr_t>(&outside));
  return outside;
}

unsigned random_below(unsigned n) noexcept {
  worker* const m = current_worker();
  return (m ? m->dice : dice_of_thread()).below(n);
}

// Fisher and Yates.
void shuffle(std::span<select_place> places) noexcept {
  for (unsigned i = 0; i < places.size(); ++i) {
    const unsigned j = random_below(i + 1);
    places[i].number = places[j].number;
    places[j].number = i;
  }
}

}  // namespace

selected select_one(std::span<select_case* const> cases, std::span<select_place> places, bool waits,
                    const wait_limits& limits) {
  disturb();
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
  if (winner == waiter::timed_out && timed) return {wait_end::served, timed, false};
  if (winner >= waiter::first_limit) return {.end = waiter::end_by(winner)};
  return {wait_end::served, cases[winner], places[winner].entry->refused};
}

}  // namespace fj::inline v0_1::detail
