// Cancelled before they start: loops and algorithms throw fj::cancelled if there is anything to do, and start none of
// it.
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "test/support.hpp"

namespace {

constexpr std::size_t sizes[] = {0, 1, 2, 3, 20, 5000};

/// Elements that count their comparisons and all other operations on them.
struct counted {
  static inline std::atomic<int> uses = 0;

  int operator()(auto) const { return ++uses; }
  bool operator()(int a, int b) const {
    ++uses;
    return a < b;
  }
};

template <class Body>
void expect_cancelled(bool cancelled, Body body) {
  counted::uses = 0;
  if (cancelled) {
    CHECK_THROWS_AS(body(), fj::cancelled);
  } else {
    CHECK_NOTHROW(body());
  }
  CHECK(counted::uses == 0);
}

void expect_all_cancelled(fj::runtime& rt, std::size_t n, const fj::loop_options& options) {
  std::vector<int> all(n), out(2 * n);
  for (std::size_t i = 0; i != n; ++i) all[i] = static_cast<int>(i * 7 % 10);
  const counted use;
  const auto expect = [&](bool cancelled, auto body) { expect_cancelled(cancelled, [&] { rt.run(body); }); };
  expect(n > 0, [&] { fj::parallel_for(all, use, options); });
  expect(n > 0, [&] { fj::parallel_for(std::size_t(0), n, 2, use, options); });
  expect(n > 0, [&] { fj::parallel_for_blocks(all, [&](auto at, auto) { use(*at); }, options); });
  expect(n > 0, [&] { fj::fork_each(all, use, options); });
  expect(n > 0, [&] { fj::parallel_for_2d(n, 1, [&](std::size_t i, std::size_t) { use(i); }, options); });
  expect(n > 0, [&] { fj::parallel_for_2d(n, 1, [&](const fj::block_2d& b) { use(b); }, options); });
  const auto use_ends = [&](auto i, auto, auto, auto) { use(i); };
  expect(n > 0, [&] { fj::parallel_for_2d(n, 1, use_ends, options); });
  expect(n > 0, [&] { fj::parallel_for_2d(std::size_t{0}, n, 0, 1, use_ends, options); });
  expect(n > 0, [&] { static_cast<void>(fj::parallel_reduce(all, 0, use, options)); });
  const auto join = [](int a, int b) { return a + b; };
  expect(n > 0, [&] { static_cast<void>(fj::parallel_reduce(all, 0, use, join, options)); });
  const auto use_block = [&](auto at, auto, int, auto...) { return use(*at), 0; };
  expect(n > 0, [&] { static_cast<void>(fj::parallel_reduce(all, 0, use_block, join, options)); });
  expect(n > 0, [&] { fj::parallel_scan(all, 0, use_block, join, options); });
  expect(n > 0, [&] { fj::parallel_scan(all, out.begin(), use, options); });
  expect(n > 0, [&] { fj::parallel_transform(all, out.begin(), use, options); });
  expect(n > 0, [&] { static_cast<void>(fj::parallel_find_if(all, use, {}, options)); });
  expect(n > 0, [&] { fj::parallel_partition(all, use, {}, options); });
  expect(n > 0, [&] { fj::parallel_stable_partition(all, use, {}, options); });
  expect(n > 0, [&] { fj::parallel_copy_if(all, out.begin(), use, {}, options); });
  expect(n > 0, [&] { fj::parallel_merge(all, all, out.begin(), use, {}, {}, options); });
  expect(n > 1, [&] { fj::parallel_sort(all, use, {}, options); });
  expect(n > 1, [&] { fj::parallel_stable_sort(all, use, {}, options); });
}

}  // namespace

TEST_CASE("cancelled before start: every algorithm with work throws fj::cancelled") {
  fj::stop_source source;
  source.request_stop();
  const fj::stop_token token = source.get_token();
  for (const unsigned p : {1u, 2u}) {
    fj::runtime rt(test::with_procs(p));
    for (const std::size_t grain : {0u, 1u, 100u}) {
      for (const std::size_t n : sizes) {
        CAPTURE(n);
        expect_all_cancelled(rt, n, {.grain = grain, .stop = &token});
      }
    }
  }
}
