// Partition and filter: large inputs with any share of matches, options, calls outside of a runtime.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "forkjoin/copy_if.hpp"
#include "forkjoin/partition.hpp"
#include "test/support.hpp"

namespace {

std::vector<unsigned> some(unsigned n, unsigned below = 1000) {
  test::dice random(n);
  std::vector<unsigned> all(n);
  for (unsigned& one : all) one = random.below(below);
  return all;
}

}  // namespace

TEST_CASE("partitions any share of the elements") {
  const unsigned n = test::divided(20000u) + 200;
  const std::vector<unsigned> input = some(n);
  std::vector<unsigned> expected = input;
  std::sort(expected.begin(), expected.end());
  test::for_each_runtime("partition", [&](fj::runtime& rt, unsigned, test::stealing) {
    for (const unsigned share : {0u, 1u, 500u, 999u, 1000u}) {
      const auto low = [=](unsigned one) { return one < share; };
      const auto count = std::count_if(input.begin(), input.end(), low);
      std::vector<unsigned> parted = input;
      const auto border = rt.run([&] { return fj::parallel_partition(parted, low, {}, {.grain = 100}); });
      CHECK(border - parted.begin() == count);
      CHECK(std::is_partitioned(parted.begin(), parted.end(), low));
      std::sort(parted.begin(), parted.end());
      CHECK(parted == expected);
    }
  });
}

TEST_CASE("partitions elements that can only be moved, outside of a runtime") {
  const test::watchdog dog("outside", 0);
  std::vector<std::unique_ptr<unsigned>> all;
  for (const unsigned one : some(100000)) all.push_back(std::make_unique<unsigned>(one));
  const auto value = [](const std::unique_ptr<unsigned>& one) { return *one; };
  const auto low = [](unsigned one) { return one < 300; };
  const auto border = fj::parallel_partition(all, low, value);
  CHECK(std::ranges::all_of(all.begin(), border, low, value));
  CHECK(std::ranges::none_of(border, all.end(), low, value));
}

TEST_CASE("filters any share of the elements, in order") {
  const unsigned n = test::divided(20000u) + 200;
  const std::vector<unsigned> input = some(n);
  test::for_each_runtime("filter", [&](fj::runtime& rt, unsigned, test::stealing) {
    for (const unsigned share : {0u, 1u, 500u, 1000u}) {
      const auto low = [=](unsigned one) { return one < share; };
      std::vector<unsigned> expected;
      std::copy_if(input.begin(), input.end(), std::back_inserter(expected), low);
      std::vector<unsigned> output(expected.size());
      const auto end = rt.run([&] { return fj::parallel_copy_if(input, output.begin(), low, {}, {.grain = 100}); });
      CHECK(end == output.end());
      CHECK(output == expected);
    }
  });
}

TEST_CASE("filters outside of a runtime, with defaults") {
  const test::watchdog dog("outside", 0);
  const std::vector<unsigned> input = some(100001);
  std::vector<unsigned> output(input.size()), expected;
  const auto odd = [](unsigned one) { return one % 2 == 1; };
  output.erase(fj::parallel_copy_if(input, output.begin(), odd), output.end());
  std::copy_if(input.begin(), input.end(), std::back_inserter(expected), odd);
  CHECK(output == expected);
}

TEST_CASE("partition and filter throw fj::cancelled when asked to stop, unless everything had started") {
  const std::vector<unsigned> input = some(5000);
  std::vector<unsigned> sorted_input = input;
  std::sort(sorted_input.begin(), sorted_input.end());
  test::for_each_runtime("stop", [&](fj::runtime& rt, unsigned, test::stealing) {
    for (const std::size_t after : {0, 10, 2000, 1 << 30}) {
      for (const bool filter : {false, true}) {
        fj::stop_source source;
        const fj::stop_token token = source.get_token();
        std::atomic<std::size_t> tests = 0;
        const auto low = [&](unsigned one) {
          if (tests.fetch_add(1, std::memory_order_relaxed) >= after) source.request_stop();
          return one < 500;
        };
        if (after == 0) source.request_stop();
        std::vector<unsigned> values = input, output(input.size());
        const fj::loop_options options{.grain = 64, .stop = &token};
        const auto work = [&] {
          rt.run([&] {
            filter ? static_cast<void>(fj::parallel_copy_if(values, output.begin(), low, {}, options))
                   : static_cast<void>(fj::parallel_partition(values, low, {}, options));
          });
        };
        if (after < 10000) {
          CHECK_THROWS_AS(work(), fj::cancelled);
          if (after == 0) CHECK(tests == 0);
        } else {
          work();
        }
        std::sort(values.begin(), values.end());
        CHECK(values == sorted_input);
      }
    }
  });
}

// The last call of the predicate asks it to stop, before the first copy. Without a check of the token there (tried),
// everything is copied.
TEST_CASE("a filter that is asked to stop when it knows what matches copies nothing") {
  fj::runtime rt(test::with_procs(1));
  fj::stop_source source;
  const fj::stop_token token = source.get_token();
  const std::vector<unsigned> input(640, 1);
  std::vector<unsigned> output(input.size());
  std::size_t tests = 0;
  const auto all = [&](unsigned) {
    if (++tests == input.size()) source.request_stop();
    return true;
  };
  const fj::loop_options options{.grain = 64, .stop = &token};
  CHECK_THROWS_AS(rt.run([&] { fj::parallel_copy_if(input, output.begin(), all, {}, options); }), fj::cancelled);
  CHECK(output == std::vector<unsigned>(input.size()));
}
