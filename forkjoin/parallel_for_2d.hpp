// Parallel loops over the cells of a matrix, one by one or by blocks.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/loop_bounds.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/loops/own_copy.hpp"
#include "forkjoin/loops/split_loop.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/serial/observer.hpp"

namespace fj { inline namespace v0_4 {

/// A rectangle of cells: rows [row_begin, row_end), columns [col_begin, col_end).
struct block_2d {
  std::size_t row_begin = 0;
  std::size_t row_end = 0;
  std::size_t col_begin = 0;
  std::size_t col_end = 0;

  constexpr std::size_t rows() const noexcept { return row_end - row_begin; }
  constexpr std::size_t cols() const noexcept { return col_end - col_begin; }
  constexpr std::size_t cells() const noexcept { return rows() * cols(); }

  constexpr bool operator==(const block_2d&) const = default;
};

namespace detail {

template <class Leaf>
class block_loop {
 public:
  block_loop(const Leaf& leaf, std::size_t grain, const loop_options& options) noexcept
      : leaf_(leaf), grain_(grain), parts_(options.stop) {}

  /// Runs a block; `place` is the number of cells before it in order.
  void run(const block_2d& block, std::size_t place = 0) {
    if (block.cells() <= grain_) return parts_.run(place, [&] { leaf_(block); });
    parts_.begin(place);
    block_2d first = block, second = block;
    if (block.rows() >= block.cols()) {
      first.row_end = second.row_begin = block.row_begin + block.rows() / 2;
    } else {
      first.col_end = second.col_begin = block.col_begin + block.cols() / 2;
    }
    fork_join([&] { run(first, place); }, [&] { run(second, place + first.cells()); });
  }

 private:
  const Leaf leaf_;
  const std::size_t grain_;
  ordered_parts parts_;
};

/// The number of cells. Throws std::length_error if a std::size_t cannot count them.
inline std::size_t count_of_cells(std::size_t rows, std::size_t cols) {
  if (cols != 0 && rows > (std::numeric_limits<std::size_t>::max)() / cols)
    throw std::length_error("fj::parallel_for_2d: " + std::to_string(rows) + " rows of " + std::to_string(cols) +
                            " cells are more cells than a std::size_t counts; loop over the rows by fj::parallel_for");
  return rows * cols;
}

/// The size of blocks if there is no grain: there are enough blocks to keep each P busy until the end, even if they
/// take different times.
inline std::size_t default_block_size(std::size_t cells) {
  constexpr std::size_t blocks_per_proc = 16;
  return elements_a_strand(std::max<std::size_t>(1, cells / (blocks_per_proc * procs_to_cut_for(procs()))), 1);
}

/// Calls leaf(block) for blocks that make up a matrix, which has a cell.
template <class Leaf>
void for_blocks_2d(std::size_t rows, std::size_t cols, const loop_options& options, const Leaf& leaf) {
  fj::run([&] {
    const std::size_t grain = options.grain ? options.grain : detail::default_block_size(rows * cols);
    block_loop<Leaf>(leaf, grain, options).run({0, rows, 0, cols});
  });
}

/// Not inlined, as part_of_loop: all blocks run the same copy of the user's code.
template <class... Ends, class Body>
[[gnu::noinline]] void run_block(Body& body, Ends... ends) {
  const auto own = detail::own_copy<Ends...>(body);
  static_cast<void>(std::invoke(own, std::forward<Ends>(ends)...));
}

template <class Row, class Column, class Body>
void for_ends_of_blocks(std::size_t rows, indices_from<Row> row, std::size_t cols, indices_from<Column> column,
                        Body& body, const loop_options& options) {
  detail::for_blocks_2d(rows, cols, options, [&body, row, column](const block_2d& block) {
    detail::run_block<Row, Row, Column, Column>(body, row[block.row_begin], row[block.row_end], column[block.col_begin],
                                                column[block.col_end]);
  });
}

template <class Body>
concept takes_block_2d = std::is_invocable_v<Body&, const block_2d&>;

template <class Body, class Row, class Column>
concept takes_cell = std::is_invocable_v<Body&, Row, Column>;

template <class Body, class Row, class Column>
concept takes_ends_of_block = std::is_invocable_v<Body&, Row, Row, Column, Column>;

/// None if it is negative, as in parallel_for(0, n, body).
template <class Index>
std::size_t count_up_to(Index n) noexcept {
  return index_range<Index, Index>("fj::parallel_for_2d", 0, n).size();
}

template <class Rows, class Columns, class Body>
consteval auto why_not_2d() {
  if constexpr (!index<Rows> || !index<Columns>) {
    return refusal("rows or columns are no integers: their numbers must be integers, not characters");
  } else if constexpr (!takes_block_2d<Body> && !takes_cell<Body, std::size_t, std::size_t> &&
                       !takes_ends_of_block<Body, std::size_t, std::size_t>) {
    return refusal(
        "the body takes no cell or block: it must be callable with two or four std::size_t, or with a const "
        "fj::block_2d&");
  } else {
    return not_refused;
  }
}

template <class FirstRow, class LastRow, class FirstColumn, class LastColumn, class Body>
consteval auto why_not_2d_between() {
  if constexpr (!index<FirstRow> || !index<LastRow> || !index<FirstColumn> || !index<LastColumn>) {
    return refusal("rows or columns are no integers: their bounds must be integers, not characters");
  } else {
    using row = std::common_type_t<FirstRow, LastRow>;
    using column = std::common_type_t<FirstColumn, LastColumn>;
    if constexpr (takes_cell<Body, row, column> || takes_ends_of_block<Body, row, column>) {
      return not_refused;
    } else if constexpr (takes_block_2d<Body>) {
      return refusal(
          "the body takes a block_2d, whose rows and columns are std::size_t: between bounds it takes the ends of a "
          "block, of their "
          "types: body(first_row, last_row, first_column, last_column)");
    } else {
      return refusal(
          "the body takes no cell or block: it must be callable with a row and a column, of the types of their bounds, "
          "or with the "
          "first and the last row and the first and the last column of a block");
    }
  }
}

}  // namespace detail

/// Calls body(i, j) for all i below rows and j below cols, possibly in parallel; or, for blocks that together make up
/// all of them, body(block) if the body is callable with a block_2d, and body(first_row, last_row, first_column,
/// last_column) if it takes four numbers. The indices are std::size_t. If rows or cols is negative, there are none.
///
/// By cells: as parallel_for over all cells row by row, with the same promises of order and exceptions. The grain is a
/// number of cells.
///
/// By blocks: the matrix is halved across its longer side until a block has at most options.grain cells (without a
/// grain, until there are a few blocks for each P). The blocks depend only on the sizes, the grain and the number of
/// Ps. In the order of the loop, the upper or the left half comes first. Blocks are for bodies whose own loops the
/// compiler is to vectorize, or that reuse what they have in the cache. A small trivial body may be copied for each
/// block, as parallel_for does for each part. Cost: a fork for each block but one.
///
/// Throws std::length_error if there are more cells than a std::size_t counts.
template <class Rows, class Columns, class Body>
  requires detail::accepted<detail::why_not_2d<Rows, Columns, Body>()>
void parallel_for_2d(Rows up_to_row, Columns up_to_column, Body&& body, const loop_options& options = {}) {
  const std::size_t rows = detail::count_up_to(up_to_row), cols = detail::count_up_to(up_to_column);
  const std::size_t cells = detail::count_of_cells(rows, cols);
  if (cells == 0) return;
  if constexpr (detail::takes_block_2d<Body>) {
    detail::for_blocks_2d(rows, cols, options,
                          [&body](const block_2d& block) { detail::run_block<const block_2d&>(body, block); });
  } else if constexpr (!detail::takes_cell<Body, std::size_t, std::size_t>) {
    detail::for_ends_of_blocks<std::size_t, std::size_t>(rows, {0}, cols, {0}, body, options);
  } else {
    detail::for_parts(cells, options, [&body, cols](std::size_t begin, std::size_t end) {
      std::size_t i = begin / cols, j = begin % cols;
      while (begin != end) {
        const std::size_t row_end = (std::min)(cols, j + (end - begin));
        begin += row_end - j;
        for (; j != row_end; ++j) static_cast<void>(std::invoke(body, std::size_t(i), std::size_t(j)));
        ++i;
        j = 0;
      }
    });
  }
}

template <class Rows, class Columns, class Body, auto Why = detail::why_not_2d<Rows, Columns, Body>()>
  requires(!detail::accepted<Why>)
void parallel_for_2d(Rows rows, Columns cols, Body&& body, const loop_options& options = {}) = delete;

/// Calls body(i, j) for all i in [first_row, last_row) and j in [first_column, last_column), possibly in parallel, row
/// by row, as the other parallel_for_2d does for all from 0; or body(first_row, last_row, first_column, last_column)
/// for blocks of them, none empty, if the body takes four numbers. The indices have the common types of their bounds:
/// so they may be negative, and need no casts. Throws std::invalid_argument as parallel_for, std::length_error if there
/// are more cells than a std::size_t counts.
template <class FirstRow, class LastRow, class FirstColumn, class LastColumn, class Body>
  requires detail::accepted<detail::why_not_2d_between<FirstRow, LastRow, FirstColumn, LastColumn, Body>()>
void parallel_for_2d(FirstRow first_row, LastRow last_row, FirstColumn first_column, LastColumn last_column,
                     Body&& body, const loop_options& options = {}) {
  const detail::index_range<FirstRow, LastRow> rows("fj::parallel_for_2d", first_row, last_row);
  const detail::index_range<FirstColumn, LastColumn> columns("fj::parallel_for_2d", first_column, last_column);
  const std::size_t width = columns.size();
  const std::size_t cells = detail::count_of_cells(rows.size(), width);
  if (cells == 0) return;
  const auto row = rows.indices();
  const auto column = columns.indices();
  if constexpr (detail::takes_cell<Body, decltype(row[0]), decltype(column[0])>) {
    detail::for_parts(cells, options, [&body, row, column, width](std::size_t begin, std::size_t end) {
      std::size_t i = begin / width, j = begin % width;
      while (begin != end) {
        const std::size_t row_end = (std::min)(width, j + (end - begin));
        begin += row_end - j;
        for (; j != row_end; ++j) static_cast<void>(std::invoke(body, row[i], column[j]));
        ++i;
        j = 0;
      }
    });
  } else {
    detail::for_ends_of_blocks(rows.size(), row, width, column, body, options);
  }
}

template <class FirstRow, class LastRow, class FirstColumn, class LastColumn, class Body,
          auto Why = detail::why_not_2d_between<FirstRow, LastRow, FirstColumn, LastColumn, Body>()>
  requires(!detail::accepted<Why>)
void parallel_for_2d(FirstRow first_row, LastRow last_row, FirstColumn first_column, LastColumn last_column,
                     Body&& body, const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
