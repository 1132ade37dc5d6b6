#pragma once

#include "blocked_range.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace tbb {

namespace fj_detail {

template <class Dimensions, class Value, unsigned N>
class range_of_dimensions;

template <std::size_t... I, class Value, unsigned N>
class range_of_dimensions<std::index_sequence<I...>, Value, N> {
  template <std::size_t>
  using dimension = blocked_range<Value>;

 public:
  using value_type = Value;
  using dim_range_type = blocked_range<Value>;
  using size_type = typename dim_range_type::size_type;

  range_of_dimensions() = delete;
  range_of_dimensions(const dimension<I>&... dims) : dims_{{dims...}} {}
  range_of_dimensions(range_of_dimensions& r, split by) : range_of_dimensions(r) { cut(r, by); }
  range_of_dimensions(range_of_dimensions& r, proportional_split by) : range_of_dimensions(r) { cut(r, by); }

  static constexpr unsigned ndims() { return N; }
  const dim_range_type& dim(unsigned i) const { return dims_[i]; }
  bool empty() const {
    return std::any_of(dims_.begin(), dims_.end(), [](const dim_range_type& each) { return each.empty(); });
  }
  bool is_divisible() const {
    return std::any_of(dims_.begin(), dims_.end(), [](const dim_range_type& each) { return each.is_divisible(); });
  }

 private:
  // Cuts the side that is longest by its grain size.
  template <class Split>
  void cut(range_of_dimensions& r, Split& by) {
    const auto longest = std::max_element(dims_.begin(), dims_.end(), [](const auto& a, const auto& b) {
      return static_cast<double>(a.size()) * static_cast<double>(b.grainsize()) <
             static_cast<double>(b.size()) * static_cast<double>(a.grainsize());
    });
    *longest = dim_range_type(r.dims_[static_cast<std::size_t>(longest - dims_.begin())], by);
  }

  std::array<dim_range_type, N> dims_;
};

}  // namespace fj_detail

/// Made of N ranges, one for each dimension.
template <class Value, unsigned N>
using blocked_rangeNd = fj_detail::range_of_dimensions<std::make_index_sequence<N>, Value, N>;

}  // namespace tbb
