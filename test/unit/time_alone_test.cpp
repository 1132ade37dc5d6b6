// How long one P alone was busy, as P begin and end.
#include "runtime/base/time_alone.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "test/support.hpp"

namespace {

struct parts_of_two {
  fj::detail::time_alone::loop_parts of[2];
};

fj::detail::time_alone::loop_parts parts_of(const void* all, unsigned proc) noexcept {
  return static_cast<const parts_of_two*>(all)->of[proc];
}

}  // namespace

TEST_CASE("time_alone: counts while exactly one is busy, and which loops that one ran") {
  parts_of_two parts{};
  parts.of[0].whose = &parts.of[0];
  parts.of[1].whose = &parts.of[1];
  fj::detail::time_alone watch;
  watch.watch(&parts, &parts_of);
  CHECK(watch.read(1'000'000).any == 0);
  watch.begin(0, 2'000'000);
  CHECK(watch.read(2'500'000).alone == 500'000);
  parts.of[0].begun += 10;
  watch.begin(1, 3'000'000);
  parts.of[0].begun += 1'000'000;  // while both are
  CHECK(watch.read(5'000'000).alone == 1'000'000);
  CHECK(watch.read(5'000'000).short_loops == 10 * fj::detail::tuning::short_part_ns);
  watch.end(0, 6'000'000);
  CHECK(watch.read(7'000'000).alone == 2'000'000);
  parts.of[1].begun -= 1'000'000'000;  // it has wrapped around
  watch.end(1, 8'000'000);
  const auto all = watch.read(20'000'000);
  CHECK(all.alone == 3'000'000);
  CHECK(all.any == 6'000'000);
  CHECK(all.short_loops == 1'000'000 + 10 * fj::detail::tuning::short_part_ns);
}

// The look at the parts stands for another thread, which begins while the first one settles. Tried without the second
// look: P 0 counted as alone for a second.
TEST_CASE("time_alone: a P that begins while another thread settles is seen") {
  struct late_one {
    fj::detail::time_alone watch;
    bool begun = false;
  } two;
  two.watch.watch(&two, [](const void* all, unsigned) noexcept {
    auto& now = *static_cast<late_one*>(const_cast<void*>(all));
    if (!now.begun) {
      now.begun = true;
      now.watch.begin(1, 1'000'000'000);
    }
    return fj::detail::time_alone::loop_parts{};
  });
  two.watch.begin(0, 1'000'000'000);
  CHECK(two.begun);
  const auto found = two.watch.read(2'000'000'000);
  CHECK(found.any == 1'000'000'000);
  CHECK(found.alone == 0);
}

TEST_CASE("time_alone: nothing is lost when many begin and end at once") {
  constexpr unsigned threads = 4;
  fj::detail::time_alone watch;
  std::atomic<std::int64_t> clock{0};
  for (int round = 0; round < 100; ++round) {
    const std::uint64_t before = watch.read(clock).any;
    const std::int64_t begun = clock;
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; ++i)
      all.emplace_back([&, i] {
        for (int k = 0; k < 100; ++k) {
          watch.begin(i, ++clock);
          watch.end(i, ++clock);
        }
      });
    for (std::thread& each : all) each.join();
    const std::int64_t passed = clock - begun;
    clock += 1'000'000;  // none is busy
    const auto after = watch.read(clock);
    REQUIRE(after.any - before <= static_cast<std::uint64_t>(passed));
    REQUIRE(after.alone <= after.any);
    watch.begin(2, clock);
    const auto alone = watch.read(clock += 1'000'000).alone;
    watch.end(2, clock);
    REQUIRE(alone == after.alone + 1'000'000);
  }
}
