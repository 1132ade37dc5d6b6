#pragma once

#include "blocked_range2d.h"

namespace tbb {

template <class PageValue, class RowValue = PageValue, class ColValue = RowValue>
class blocked_range3d {
 public:
  using page_range_type = blocked_range<PageValue>;
  using row_range_type = blocked_range<RowValue>;
  using col_range_type = blocked_range<ColValue>;

  blocked_range3d(PageValue page_begin, PageValue page_end, RowValue row_begin, RowValue row_end, ColValue col_begin,
                  ColValue col_end)
      : pages_(page_begin, page_end), rows_(row_begin, row_end), cols_(col_begin, col_end) {}
  blocked_range3d(PageValue page_begin, PageValue page_end, std::size_t page_grain, RowValue row_begin,
                  RowValue row_end, std::size_t row_grain, ColValue col_begin, ColValue col_end, std::size_t col_grain)
      : pages_(page_begin, page_end, page_grain),
        rows_(row_begin, row_end, row_grain),
        cols_(col_begin, col_end, col_grain) {}
  blocked_range3d(blocked_range3d& r, split by) : blocked_range3d(r) { cut(r, by); }
  blocked_range3d(blocked_range3d& r, proportional_split& by) : blocked_range3d(r) { cut(r, by); }

  const page_range_type& pages() const { return pages_; }
  const row_range_type& rows() const { return rows_; }
  const col_range_type& cols() const { return cols_; }
  bool empty() const { return pages_.empty() || rows_.empty() || cols_.empty(); }
  bool is_divisible() const { return pages_.is_divisible() || rows_.is_divisible() || cols_.is_divisible(); }

 private:
  // Cuts the side that is longest by its grain size.
  template <class Split>
  void cut(blocked_range3d& r, Split& by) {
    const auto share = [](const auto& one) {
      return static_cast<double>(one.size()) / static_cast<double>(one.grainsize());
    };
    if (share(pages_) >= share(rows_) && share(pages_) >= share(cols_)) {
      pages_ = page_range_type(r.pages_, by);
    } else if (share(rows_) >= share(cols_)) {
      rows_ = row_range_type(r.rows_, by);
    } else {
      cols_ = col_range_type(r.cols_, by);
    }
  }

  page_range_type pages_;
  row_range_type rows_;
  col_range_type cols_;
};

}  // namespace tbb
