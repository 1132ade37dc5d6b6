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

// Tried with a return where another thread settles, without its second look: some rounds counted on after the end.
TEST_CASE("time_alone: nothing is lost when many begin and end at once") {
  constexpr unsigned threads = 4;
  fj::detail::time_alone watch;
  std::atomic<std::int64_t> clock{0};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; ++i)
      all.emplace_back([&, i] {
        for (int k = 0; k < 100; ++k) {
          watch.begin(i, ++clock);
          watch.end(i, ++clock);
        }
      });
    for (std::thread& each : all) each.join();
    const auto before = watch.read(clock);
    clock += 1'000'000;
    const auto after = watch.read(clock);
    REQUIRE(after.any == before.any);
    REQUIRE(after.alone <= after.any);
    watch.begin(2, clock);
    const auto begun = watch.read(clock += 1'000'000);
    watch.end(2, clock);
    REQUIRE(begun.alone == after.alone + 1'000'000);
  }
}
