// Loops over matrices: by cells and by blocks.
#include <doctest/doctest.h>

#include <algorithm>
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

namespace {

// Notes the cells of each block. Blocks overlap, or leave cells out, if a cell's count is not 1 in the end.
template <class I, class J>
class seen_cells {
 public:
  seen_cells(I first_row, I last_row, J first_column, J last_column)
      : row_(first_row),
        column_(first_column),
        rows_(number(first_row, last_row)),
        columns_(number(first_column, last_column)),
        counts_(rows_ * columns_) {}

  void operator()(I i, I last_row, J j, J last_column) {
    const std::size_t rows = number(i, last_row), columns = number(j, last_column);
    if (i >= last_row || j >= last_column || number(row_, i) + rows > rows_ ||
        number(column_, j) + columns > columns_) {
      wrong_ = true;
      return;
    }
    for (std::size_t m = 0; m != rows; ++m)
      for (std::size_t n = 0; n != columns; ++n) ++counts_[(number(row_, i) + m) * columns_ + number(column_, j) + n];
    std::size_t largest = largest_;
    while (largest < rows * columns && !largest_.compare_exchange_weak(largest, rows * columns)) {}
  }

  bool each_once() const { return !wrong_ && counts_ == std::vector<unsigned char>(counts_.size(), 1); }
  std::size_t largest() const { return largest_; }

 private:
  static std::size_t number(auto from, auto to) {
    return to <= from ? 0 : static_cast<std::size_t>(to) - static_cast<std::size_t>(from);
  }

  I row_;
  J column_;
  std::size_t rows_, columns_;
  std::vector<unsigned char> counts_;
  std::atomic<bool> wrong_ = false;
  std::atomic<std::size_t> largest_ = 0;
};

}  // namespace

// Tried with the block's last row as the last one of all, and with first and last column exchanged: fails.
TEST_CASE("parallel_for_2d between bounds visits each cell in one block, whose ends have the types of the bounds") {
  test::for_each_runtime("ends of blocks", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    const auto check = [&](auto first_row, auto last_row, auto first_column, auto last_column) {
      using row = std::common_type_t<decltype(first_row), decltype(last_row)>;
      using column = std::common_type_t<decltype(first_column), decltype(last_column)>;
      for (const std::size_t grain : grains) {
        CAPTURE(grain);
        seen_cells<row, column> seen(first_row, last_row, first_column, last_column);
        rt.run([&] {
          fj::parallel_for_2d(
              first_row, last_row, first_column, last_column,
              [&](auto i, auto end_i, auto j, auto end_j) {
                static_assert(std::is_same_v<decltype(i), row> && std::is_same_v<decltype(end_i), row>);
                static_assert(std::is_same_v<decltype(j), column> && std::is_same_v<decltype(end_j), column>);
                seen(i, end_i, j, end_j);
              },
              {.grain = grain});
        });
        CHECK(seen.each_once());
        if (grain != 0) CHECK(seen.largest() <= grain);
      }
    };
    for (const auto& [rows, cols] : shapes) {
      const auto height = static_cast<int>(rows);
      const auto width = static_cast<long>(cols);
      check(0, height, 0L, width);
      check(-3, height - 3, -40L, width - 40);
      check(std::size_t{7}, rows + 7, 1, static_cast<int>(cols) + 1);
    }
    check(5, -5, 0, 9);
    check(0, 9, 5, -5);
    check(std::int8_t{-128}, std::int8_t{127}, 0, 3);
    check(std::uint8_t{0}, std::uint8_t{255}, std::int16_t{-1}, std::int16_t{1});
    constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
    check(least, least + 3, most - 20, most);
    check(std::numeric_limits<std::uint64_t>::max() - 5, std::numeric_limits<std::uint64_t>::max(), least, least + 7);
  });
}

TEST_CASE("parallel_for_2d by the ends of blocks: all that a std::size_t counts, and no more") {
  constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  int blocks = 0;
  fj::parallel_for_2d(least, most, 0, 1,
                      [&](std::int64_t i, std::int64_t end_i, int j, int end_j) {
                        CHECK(i == least);
                        CHECK(end_i == most);
                        CHECK(j == 0);
                        CHECK(end_j == 1);
                        ++blocks;
                      },
                      {.grain = std::numeric_limits<std::size_t>::max()});
  CHECK(blocks == 1);
  const auto none = [](auto, auto, auto, auto) { FAIL("called"); };
  CHECK_THROWS_AS(fj::parallel_for_2d(least, most, 0, 2, none), std::length_error);
  CHECK_THROWS_AS(fj::parallel_for_2d(-1, 5u, 0, 2, none), std::invalid_argument);
  CHECK_THROWS_AS(fj::parallel_for_2d(0, 2, -1, 5u, none), std::invalid_argument);
}

TEST_CASE("parallel_for_2d from 0 takes the ends of blocks, too, and prefers cells if a body takes both") {
  std::vector<std::array<std::size_t, 4>> blocks;
  fj::runtime rt(test::with_procs(1));
  rt.run([&] {
    fj::parallel_for_2d(4, 3,
                        [&](std::size_t i, std::size_t end_i, std::size_t j, std::size_t end_j) {
                          blocks.push_back({i, end_i, j, end_j});
                        },
                        {.grain = 4});
    fj::parallel_for_2d(-1, 3, [](std::size_t, std::size_t, std::size_t, std::size_t) { FAIL("no row"); });
    int cells = 0;
    fj::parallel_for_2d(
        2, 3, [&](auto i, auto j, auto... ends) { cells += sizeof...(ends) == 0 && i < 2 && j < 3 ? 1 : 100; });
    fj::parallel_for_2d(1, 3, -1, 2, [&](int, int, int = 0, int = 0) { ++cells; });
    CHECK(cells == 12);
  });
  CHECK(blocks == std::vector<std::array<std::size_t, 4>>{{0, 2, 0, 1}, {0, 2, 1, 3}, {2, 4, 0, 1}, {2, 4, 1, 3}});
}

// Tried without ordered_parts in the loop of blocks: a stopped loop calls the body.
TEST_CASE("parallel_for_2d by the ends of blocks throws what comes first, and is cancelled") {
  test::for_each_runtime("throwing ends", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t grain : {std::size_t{1}, std::size_t{10}}) {
      // Of one column, so that the blocks come in the order of the rows.
      int thrown = 0;
      try {
        rt.run([&] {
          fj::parallel_for_2d(-50, 50, 3, 4,
                              [](int i, int end_i, int, int) {
                                if (end_i > 10) throw std::max(i, 10);
                              },
                              {.grain = grain});
        });
      } catch (int row) {
        thrown = row;
      }
      CHECK(thrown == 10);
      fj::stop_source source;
      const fj::stop_token token = source.get_token();
      source.request_stop();
      const fj::loop_options options{.grain = grain, .stop = &token};
      const auto never = [](int, int, int, int) { FAIL("called"); };
      CHECK_THROWS_AS(rt.run([&] { fj::parallel_for_2d(-3, 3, -3, 3, never, options); }), fj::cancelled);
    }
  });
}

// What the form is for: inner loops over indices of the user's type, without casts.
TEST_CASE("parallel_for_2d by the ends of blocks: a sweep inside of a border, and a transpose") {
  constexpr int rows = 60, columns = 83;
  const auto at = [](int i, int j) { return static_cast<std::size_t>(i * columns + j); };
  std::vector<float> old_grid(rows * columns), new_grid(rows * columns), expected(rows * columns),
      turned(rows * columns);
  for (int i = 0; i != rows; ++i)
    for (int j = 0; j != columns; ++j) old_grid[at(i, j)] = static_cast<float>((i * 7 + j * 3) % 11);
  const auto sweep = [&](std::vector<float>& to, int i, int last_row, int first_column, int last_column) {
    for (; i != last_row; ++i)
      for (int j = first_column; j != last_column; ++j)
        to[at(i, j)] =
            (old_grid[at(i - 1, j)] + old_grid[at(i + 1, j)] + old_grid[at(i, j - 1)] + old_grid[at(i, j + 1)]) / 4;
  };
  sweep(expected, 1, rows - 1, 1, columns - 1);
  fj::parallel_for_2d(1, rows - 1, 1, columns - 1, [&](int i, int last_row, int j, int last_column) {
    sweep(new_grid, i, last_row, j, last_column);
  });
  CHECK(new_grid == expected);
  fj::parallel_for_2d(0, rows, 0, columns, [&](int first_row, int last_row, int first_column, int last_column) {
    for (int j = first_column; j != last_column; ++j)
      for (int i = first_row; i != last_row; ++i) turned[static_cast<std::size_t>(j * rows + i)] = old_grid[at(i, j)];
  });
  bool right = true;
  for (int i = 0; i != rows; ++i)
    for (int j = 0; j != columns; ++j)
      right = right && turned[static_cast<std::size_t>(j * rows + i)] == old_grid[at(i, j)];
  CHECK(right);
}
