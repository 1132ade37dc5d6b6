// Which Ps a thief looks at first, where FORKJOIN_TOPOLOGY asks for it: those that run on CPUs which share its
// last-level cache, then those of its memory node, then all others.
//
// Threads are not bound to CPUs, so a P has no place of its own. It has that of the CPU on which its strand began or
// last went on, and the thief that of the CPU on which its round begins. Both may be old by the time they are read:
// they decide the order of looks, and nothing else. A round that finds nothing still looks at each P once, so a thief
// goes past the near ones at once if they have nothing. It may miss a P that moves meanwhile, until its next round; the
// last look of a worker that parks goes to all of them in one order. processors.hpp has the rounds, base/steal_rule.hpp
// the random order.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/os/topology.hpp"
#include "runtime/sched/processors.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class near_first : public plain_looks {
 public:
  /// In random order.
  near_first() = default;
  /// Near Ps first; in random order if all these CPUs are equally near.
  explicit near_first(std::vector<os::cpu_place> places) : places_(std::move(places)) {
    for (const os::cpu_place& place : places_)
      if (distance(place, places_.front()) != distance(places_.front(), places_.front())) return;
    places_.clear();
  }

  /// Whether Ps have to say where they run.
  bool needs_places() const noexcept { return !places_.empty(); }

  /// A round of looks.
  class round {
   public:
    round(const std::vector<os::cpu_place>& places, int cpu) noexcept
        : places_(&places), here_(is_known(cpu) ? &places[static_cast<std::size_t>(cpu)] : nullptr) {}

    unsigned passes() const noexcept { return here_ ? 3 : 1; }
    bool takes_in(const auto& p, unsigned pass) const noexcept {
      const int cpu = p.cpu;
      const unsigned away = is_known(cpu) ? distance(*here_, (*places_)[static_cast<std::size_t>(cpu)]) : farthest;
      return away == pass;
    }

   private:
    bool is_known(int cpu) const noexcept { return cpu >= 0 && static_cast<std::size_t>(cpu) < places_->size(); }

    const std::vector<os::cpu_place>* places_;
    const os::cpu_place* here_;
  };

  round begin_round() const noexcept { return {places_, places_.empty() ? -1 : os::this_cpu()}; }

 private:
  static constexpr unsigned farthest = 2;

  static unsigned distance(const os::cpu_place& a, const os::cpu_place& b) noexcept {
    if (a.cache >= 0 && a.cache == b.cache) return 0;
    return a.node == b.node ? 1 : farthest;
  }

  std::vector<os::cpu_place> places_;
};

}}}  // namespace fj::v0_4::detail
