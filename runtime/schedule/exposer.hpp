// How a thief makes private records of other workers' deques public by force, if their owners do not push.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../base/tuning.hpp"
#include "../fork/exposure.hpp"
#include "machine.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template <scheduling_machine Machine>
struct basic_exposer {
  using deque_thief = typename Machine::deque::as_thief;
  using worker = typename Machine::worker;

  /// Makes private records public by force, for a thief that sees them but gets none: the older half in up to
  /// tuning::exposed_at_a_time deques. Nothing if another thief is at it, and nothing of owners that come to one part of a
  /// loop after another: they share the loop by themselves if it is long.
  static void expose(worker& m) noexcept {
    auto& s = m.sched();
    if (s.settings().eager || !s.exposing().try_lock()) return;
    // First the deques, then the guards: while a guard is up its owner waits for this thread. Deques are not freed while the
    // runtime lives, and one that is another P's by then will do, too.
    std::array<deque_thief*, tuning::exposed_at_a_time> chosen;
    std::size_t count = 0;
    const std::int64_t now = Machine::now_ns();
    s.all().for_each_deque(m.dice.below(s.all().count()), 1, [&](deque_thief& d) {
      if (d.has_private() && !d.progress().was_noted_since(now - tuning::patience_ns)) chosen[count++] = &d;
      return count < chosen.size();
    });
    const auto begun = std::span(chosen).first(count);
    const auto end = std::partition(begun.begin(), begun.end(), [](deque_thief* d) { return exposure::begin(*d); });
    if (end != begun.begin()) Machine::heavy_fence();
    std::for_each(begun.begin(), end, [&m](deque_thief* d) {
      if (!exposure::end(*d, &Machine::handles_any)) return;
      ++m.count().exposures;
      m.count().most_public.raise_to(d->public_count());
    });
    s.exposing().unlock();
  }
};

}}}  // namespace fj::v0_2::detail
