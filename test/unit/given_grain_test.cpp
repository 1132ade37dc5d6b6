// A given grain is the number of elements that run without a check of the token: with one P, these run to the end after
// the token is asked to stop.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "test/support.hpp"

namespace {

// How many elements a loop does if its first element asks it to stop. `loop` gets a function for each element, and
// options.
template <class Loop>
int done_when_stopped(std::size_t grain, Loop loop) {
  fj::runtime rt(test::with_procs(1));
  fj::stop_source source;
  const fj::stop_token token = source.get_token();
  int done = 0;
  const auto count = [&] {
    ++done;
    source.request_stop();
  };
  CHECK_THROWS_AS(rt.run([&] { loop(count, fj::loop_options{.grain = grain, .stop = &token}); }), fj::cancelled);
  return done;
}

constexpr std::size_t grains[] = {1, 10, 64};

}  // namespace

// With the default grain (tried for each) it is another number.
TEST_CASE("loops use the grain that they are given") {
  const std::vector<int> values(1000, 1);
  std::vector<int> output(values.size());
  for (const std::size_t grain : grains) {
    CAPTURE(grain);
    const int all = static_cast<int>(grain);
    CHECK(done_when_stopped(grain, [](auto& count, const fj::loop_options& options) {
            fj::parallel_for(0, 1000, [&](int) { count(); }, options);
          }) == all);
    CHECK(done_when_stopped(grain, [](auto& count, const fj::loop_options& options) {
            fj::fork_each(0, 1000, [&](int) { count(); }, options);
          }) == all);
    CHECK(done_when_stopped(grain, [&](auto& count, const fj::loop_options& options) {
            const auto transform = [&](int x) {
              count();
              return x;
            };
            static_cast<void>(fj::parallel_reduce(values, 0, std::plus<>(), transform, options));
          }) == all);
    const auto count_block = [](auto& count) {
      return [&count](int begin, int end, int sum, auto...) {
        for (; begin != end; ++begin) count();
        return sum;
      };
    };
    CHECK(done_when_stopped(grain, [&](auto& count, const fj::loop_options& options) {
            static_cast<void>(fj::parallel_reduce(0, 1000, 0, count_block(count), std::plus<>(), options));
          }) == all);
    CHECK(done_when_stopped(grain, [&](auto& count, const fj::loop_options& options) {
            fj::parallel_scan(0, 1000, 0, count_block(count), std::plus<>(), options);
          }) == all);
    CHECK(done_when_stopped(grain, [&](auto& count, const fj::loop_options& options) {
            const auto never = [&](int) {
              count();
              return false;
            };
            static_cast<void>(fj::parallel_find_if(values, never, {}, options));
          }) <= all);  // the largest half, quarter, and so on, that is not above the grain
  }
}

TEST_CASE("a sort forks if and only if it has more elements than its grain") {
  test::dice dice(1);
  std::vector<unsigned> shuffled(1000);
  for (unsigned& x : shuffled) x = dice.below(1000);
  const auto forks = [&](std::size_t grain) {
    fj::runtime rt(test::with(1, test::stealing::every_fork));
    std::vector<unsigned> values = shuffled;
    rt.run([&] { fj::parallel_sort(values, {}, {}, {.grain = grain}); });
    CHECK(std::is_sorted(values.begin(), values.end()));
    return rt.stats().total().steals;
  };
  CHECK(forks(1000) == 0);
  CHECK(forks(50) > 5);
}
