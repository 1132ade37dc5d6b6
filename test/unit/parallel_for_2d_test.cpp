// Loops over matrices: by cells and by blocks.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "forkjoin/parallel_for_2d.hpp"
#include "test/support.hpp"

namespace {

constexpr std::pair<std::size_t, std::size_t> shapes[] = {{0, 0},  {0, 5}, {5, 0},   {1, 1},   {1, 40},
                                                          {40, 1}, {7, 9}, {33, 20}, {3, 500}, {100, 64}};
constexpr std::size_t grains[] = {0, 1, 10, 100000};

}  // namespace

TEST_CASE("parallel_for_2d visits each cell once") {
  test::for_each_runtime("each cell once", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const auto& [rows, cols] : shapes) {
      for (const std::size_t grain : grains) {
        std::vector<unsigned char> by_cell(rows * cols), by_block(rows * cols);
        std::atomic<bool> sound = true;
        rt.run([&, rows = rows, cols = cols] {
          fj::parallel_for_2d(rows, cols, [&](std::size_t i, std::size_t j) { ++by_cell[i * cols + j]; },
                              {.grain = grain});
          fj::parallel_for_2d(rows, cols,
                              [&](const fj::block_2d& block) {
                                if (block.cells() == 0 || (grain && block.cells() > grain)) sound = false;
                                for (std::size_t i = block.row_begin; i != block.row_end; ++i)
                                  for (std::size_t j = block.col_begin; j != block.col_end; ++j)
                                    ++by_block[i * cols + j];
                              },
                              {.grain = grain});
        });
        CHECK(sound);
        CHECK(by_cell == std::vector<unsigned char>(rows * cols, 1));
        CHECK(by_block == by_cell);
      }
    }
  });
}

TEST_CASE("parallel_for_2d on one P goes by cells row by row, and by blocks in halves of the longer side") {
  fj::runtime rt(test::with_procs(1));
  std::vector<std::pair<std::size_t, std::size_t>> cells, expected;
  for (std::size_t i = 0; i != 30; ++i)
    for (std::size_t j = 0; j != 17; ++j) expected.emplace_back(i, j);
  std::vector<fj::block_2d> blocks;
  rt.run([&] {
    fj::parallel_for_2d(30, 17, [&](std::size_t i, std::size_t j) { cells.emplace_back(i, j); });
    fj::parallel_for_2d(4, 3, [&](fj::block_2d block) { blocks.push_back(block); }, {.grain = 4});
  });
  CHECK(cells == expected);
  const std::vector<fj::block_2d> halves{{0, 2, 0, 1}, {0, 2, 1, 3}, {2, 4, 0, 1}, {2, 4, 1, 3}};
  CHECK(blocks == halves);
}

TEST_CASE("parallel_for_2d throws what comes first, and is cancelled") {
  test::for_each_runtime("2d exceptions", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t grain : grains) {
      std::size_t thrown = 0;
      try {
        rt.run([&] {
          fj::parallel_for_2d(20, 30,
                              [&](std::size_t i, std::size_t j) {
                                if (i * 30 + j >= 100) throw i * 30 + j;
                              },
                              {.grain = grain});
        });
      } catch (std::size_t cell) {
        thrown = cell;
      }
      CHECK(thrown == 100);

      fj::stop_source source;
      const fj::stop_token token = source.get_token();
      source.request_stop();
      bool called = false;
      const fj::loop_options options{.grain = grain, .stop = &token};
      CHECK_THROWS_AS(rt.run([&] { fj::parallel_for_2d(3, 3, [&](fj::block_2d) { called = true; }, options); }),
                      fj::cancelled);
      CHECK_THROWS_AS(
          rt.run([&] { fj::parallel_for_2d(3, 3, [&](std::size_t, std::size_t) { called = true; }, options); }),
          fj::cancelled);
      CHECK(!called);
    }
  });
}

// Without an order of the places most of the lower half begins (tried: 175 blocks).
TEST_CASE("parallel_for_2d by blocks starts few blocks after an exception") {
  const test::watchdog dog("blocks right of an exception", 2);
  fj::runtime rt(test::with_procs(2));
  std::atomic<bool> thrown = false;
  std::atomic<int> after = 0;
  const auto visit = [&](const fj::block_2d& cell) {
    if (cell.row_begin == 0 && cell.col_begin == 5) {
      thrown = true;
      throw 5;
    }
    if (thrown) ++after;
    std::this_thread::sleep_for(std::chrono::milliseconds(thrown ? 10 : 1));
  };
  CHECK_THROWS_AS(rt.run([&] { fj::parallel_for_2d(20, 20, visit, {.grain = 1}); }), int);
  CHECK(after < 20);
}

TEST_CASE("parallel_for_2d says when there are too many cells") {
  const std::size_t n = std::size_t(1) << 32;
  const std::size_t most = std::numeric_limits<std::size_t>::max();
  const char* const message =
      "fj::parallel_for_2d: 4294967296 rows of 4294967296 cells are more cells than a std::size_t counts; loop over "
      "the "
      "rows by fj::parallel_for";
  CHECK_THROWS_WITH_AS(fj::parallel_for_2d(n, n, [](std::size_t, std::size_t) {}), message, std::length_error);
  CHECK_THROWS_WITH_AS(fj::parallel_for_2d(n, n, [](const fj::block_2d&) {}), message, std::length_error);
  CHECK_THROWS_AS(fj::parallel_for_2d(most, 2, [](std::size_t, std::size_t) {}), std::length_error);
  CHECK_NOTHROW(fj::parallel_for_2d(most, 0, [](std::size_t, std::size_t) {}));
  std::size_t cells = 0;
  fj::parallel_for_2d(most, 1, [&](const fj::block_2d& all) { cells = all.cells(); }, {.grain = most});
  CHECK(cells == most);
}

// Tried with std::size_t as the types of both: 2^64 - 1 rows, or no compilation in this test.
TEST_CASE("parallel_for_2d takes any integers, and a negative one is none") {
  int cells = 0;
  const auto count = [&](std::size_t i, std::size_t j) { cells += i < 2 && j < 3 ? 1 : 100; };
  const auto count_block = [&](fj::block_2d) { cells += 100; };
  fj::runtime rt({.procs = 1});
  rt.run([&] {
    fj::parallel_for_2d(-1, 3, count);
    fj::parallel_for_2d(3, -1L, count);
    fj::parallel_for_2d(-1, -1, count_block);
    CHECK(cells == 0);
    fj::parallel_for_2d(short{2}, 3u, count);
  });
  CHECK(cells == 6);
}

TEST_CASE("parallel_for_2d: from a first row and column, with the types of the bounds") {
  fj::run([] {
    std::array<std::array<int, 5>, 4> seen{};
    fj::parallel_for_2d(-2, 2, 3L, 8L, [&](int i, long j) {
      static_assert(std::is_same_v<decltype(i), int>);
      ++seen[static_cast<std::size_t>(i + 2)][static_cast<std::size_t>(j - 3)];
    });
    for (const auto& row : seen)
      for (const int n : row) CHECK(n == 1);
    std::atomic<long> sum = 0;
    fj::parallel_for_2d(std::int8_t{-128}, std::int8_t{127}, 0u, 3u,
                        [&](std::int8_t i, unsigned j) { sum += i + static_cast<int>(j); });
    CHECK(sum == 3 * (-128 * 255 + 254 * 255 / 2) + 255 * 3);
    fj::parallel_for_2d(5, 5, 0, 9, [](int, int) { FAIL("no row"); });
    fj::parallel_for_2d(0, 9, 5, 1, [](int, int) { FAIL("no column"); });
    // In rows, as the other form.
    std::vector<std::pair<int, int>> order;
    fj::parallel_for_2d(1, 3, 1, 4, [&](int i, int j) { order.emplace_back(i, j); }, {.grain = 6});
    CHECK(order == std::vector<std::pair<int, int>>{{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {2, 3}});
  });
}
