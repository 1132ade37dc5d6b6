#pragma once

#include "blocked_range.h"

namespace tbb {

template <class RowValue, class ColValue = RowValue>
class blocked_range2d {
 public:
  using row_range_type = blocked_range<RowValue>;
  using col_range_type = blocked_range<ColValue>;

  blocked_range2d(RowValue row_begin, RowValue row_end, std::size_t row_grain, ColValue col_begin, ColValue col_end,
                  std::size_t col_grain)
      : rows_(row_begin, row_end, row_grain), cols_(col_begin, col_end, col_grain) {}
  blocked_range2d(RowValue row_begin, RowValue row_end, ColValue col_begin, ColValue col_end)
      : rows_(row_begin, row_end), cols_(col_begin, col_end) {}
  blocked_range2d(blocked_range2d& r, split by) : blocked_range2d(r) { cut(r, by); }
  blocked_range2d(blocked_range2d& r, proportional_split& by) : blocked_range2d(r) { cut(r, by); }

  const row_range_type& rows() const { return rows_; }
  const col_range_type& cols() const { return cols_; }
  bool empty() const { return rows_.empty() || cols_.empty(); }
  bool is_divisible() const { return rows_.is_divisible() || cols_.is_divisible(); }

 private:
  // Cuts the side that is longer by its grain size.
  template <class Split>
  void cut(blocked_range2d& r, Split& by) {
    const double rows = static_cast<double>(rows_.size()) * static_cast<double>(cols_.grainsize());
    const double cols = static_cast<double>(cols_.size()) * static_cast<double>(rows_.grainsize());
    if (rows < cols) {
      cols_ = col_range_type(r.cols_, by);
    } else {
      rows_ = row_range_type(r.rows_, by);
    }
  }

  row_range_type rows_;
  col_range_type cols_;
};

}  // namespace tbb
