// The timers of one P, without a runtime.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/sched/timer_heap.hpp"
#include "test/support.hpp"

namespace {

using heap = fj::detail::timer_heap;

struct timer final : fj::detail::timer {
  timer(std::int64_t at, std::vector<const timer*>& fired) : fj::detail::timer(at), fired(fired) {}

  bool claim_wait() noexcept override { return !ended; }
  void wake(fj::detail::precedence) noexcept override { fired.push_back(this); }

  std::vector<const timer*>& fired;
  bool ended = false;  // by something else
};

}  // namespace

TEST_CASE("timer heap: what is due fires, the earliest first, and nothing else") {
  // Tried with move_down that looks at the first child alone, and with remove that never moves up: the order was wrong.
  std::vector<const timer*> fired;
  test::dice dice(1);
  for (int round = 0; round < test::divided(300); ++round) {
    heap h;
    CHECK(h.earliest() == fj::detail::never);
    CHECK(h.is_empty_now());
    const unsigned n = 1 + dice.below(200);
    std::vector<std::unique_ptr<timer>> all;
    for (unsigned i = 0; i < n; ++i) {
      all.push_back(std::make_unique<timer>(dice.below(100), fired));
      h.make_room();
      const bool first = all.back()->at < h.earliest();
      CHECK(h.arm(*all.back()) == first);
    }
    std::vector<std::int64_t> expected;
    for (const auto& each : all) {
      switch (dice.below(4)) {
        case 0:
          h.disarm(*each);
          h.disarm(*each);
          break;
        case 1:
          each->ended = true;
          break;
        default:
          expected.push_back(each->at);
      }
    }
    std::sort(expected.begin(), expected.end());
    const auto due = [&](std::int64_t now) {
      return static_cast<std::size_t>(std::upper_bound(expected.begin(), expected.end(), now) - expected.begin());
    };
    fired.clear();
    for (std::int64_t now = -1; now <= 100; now += dice.below(30)) {
      const std::size_t before = fired.size();
      CHECK(h.fire_due(now) == (due(now) > before));
      CHECK(fired.size() == due(now));
      CHECK(h.earliest() > now);
    }
    h.fire_due(100);
    CHECK(h.is_empty_now());
    REQUIRE(fired.size() == expected.size());
    for (std::size_t i = 0; i < fired.size(); ++i) CHECK(fired[i]->at == expected[i]);
  }
}
