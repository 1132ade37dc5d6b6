// Parallel loops over the cells of a matrix, one by one or by blocks.
#pragma once

#include "forkjoin/detail/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/loop_bounds.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/loops/split_loop.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/serial/observer.hpp"

namespace fj { inline namespace v0_2 {

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

template <class Body>
class block_loop {
 public:
  block_loop(Body& body, std::size_t grain, const loop_options& options) noexcept
      : body_(body), grain_(grain), parts_(options.stop) {}

  /// Runs a block; `place` is the number of cells before it in order.
  void run(const block_2d& block, std::size_t place = 0) {
    if (block.cells() <= grain_) return parts_.run(place, [&] { static_cast<void>(std::invoke(body_, block)); });
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
  Body& body_;
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

template <class Body>
concept loops_by_blocks = std::is_invocable_v<Body&, const block_2d&>;

/// None if it is negative, as in parallel_for(0, n, body).
template <class Index>
std::size_t count_up_to(Index n) noexcept {
  return index_range<Index, Index>("fj::parallel_for_2d", 0, n).size();
}

template <class Rows, class Columns, class Body>
consteval auto why_not_2d() {
  if constexpr (!index<Rows> || !index<Columns>) {
    return refusal("rows or columns are no integers: their numbers must be integers, not characters");
  } else if constexpr (!loops_by_blocks<Body> && !std::is_invocable_v<Body&, std::size_t, std::size_t>) {
    return refusal(
        "the body takes no cell or block: it must be callable with two std::size_t or with a const fj::block_2d&");
  } else {
    return not_refused;
  }
}

template <class FirstRow, class LastRow, class FirstColumn, class LastColumn, class Body>
consteval auto why_not_2d_between() {
  if constexpr (!index<FirstRow> || !index<LastRow> || !index<FirstColumn> || !index<LastColumn>) {
    return refusal("rows or columns are no integers: their bounds must be integers, not characters");
  } else if constexpr (std::is_invocable_v<Body&, std::common_type_t<FirstRow, LastRow>,
                                           std::common_type_t<FirstColumn, LastColumn>>) {
    return not_refused;
  } else if constexpr (loops_by_blocks<Body>) {
    return refusal(
        "the body takes a block: between bounds it takes cells, body(i, j); blocks need rows and columns from 0");
  } else {
    return refusal("the body takes no cell: it must be callable with a row and a column, of the types of their bounds");
  }
}

}  // namespace detail

/// Calls body(i, j) for all i below rows and j below cols, possibly in parallel; or body(block) for blocks that together
/// make up all of them, if the body is callable with a block_2d. The indices i and j are std::size_t. If rows or cols is
/// negative, there are none.
///
/// By cells: as parallel_for over all cells row by row, with the same promises of order and exceptions. The grain is a
/// number of cells.
///
/// By blocks: the matrix is halved across its longer side until a block has at most options.grain cells (without a
/// grain, until there are some blocks for each P). The blocks depend only on the sizes, the grain and the number of P.
/// In the order of the loop, the upper or the left half comes first.
///
/// Throws std::length_error if there are more cells than a std::size_t counts.
template <class Rows, class Columns, class Body>
  requires detail::accepted<detail::why_not_2d<Rows, Columns, Body>()>
void parallel_for_2d(Rows up_to_row, Columns up_to_column, Body&& body, const loop_options& options = {}) {
  const std::size_t rows = detail::count_up_to(up_to_row), cols = detail::count_up_to(up_to_column);
  const std::size_t cells = detail::count_of_cells(rows, cols);
  if (cells == 0) return;
  if constexpr (detail::loops_by_blocks<Body>) {
    fj::run([&] {
      const std::size_t grain = options.grain ? options.grain : detail::default_block_size(cells);
      detail::block_loop<std::remove_reference_t<Body>>(body, grain, options).run({0, rows, 0, cols});
    });
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

/// Calls body(i, j) for all i in [first_row, last_row) and j in [first_column, last_column), possibly in parallel, row by row, as the other
/// parallel_for_2d does for all from 0. The indices have the common types of their bounds: so they may be negative, and need no casts. Throws
/// std::invalid_argument as parallel_for, std::length_error if there are more cells than a std::size_t counts.
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
}

template <class FirstRow, class LastRow, class FirstColumn, class LastColumn, class Body,
          auto Why = detail::why_not_2d_between<FirstRow, LastRow, FirstColumn, LastColumn, Body>()>
  requires(!detail::accepted<Why>)
void parallel_for_2d(FirstRow first_row, LastRow last_row, FirstColumn first_column, LastColumn last_column,
                     Body&& body, const loop_options& options = {}) = delete;

}}  // namespace fj::v0_2
