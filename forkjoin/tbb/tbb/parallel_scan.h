#pragma once

#include "detail/divide.h"

#include <forkjoin/parallel_for.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace tbb {

class pre_scan_tag {
 public:
  static bool is_final_scan() { return false; }
  operator bool() const { return false; }
};
class final_scan_tag {
 public:
  static bool is_final_scan() { return true; }
  operator bool() const { return true; }
};

namespace fj_detail {

template <class Range>
void cut(Range range, int left, std::vector<Range>& into) {
  if (left == 0 || !range.is_divisible()) {
    into.push_back(std::move(range));
    return;
  }
  Range right(range, split());
  cut(std::move(range), left - 1, into);
  cut(std::move(right), left - 1, into);
}

/// Two passes over blocks: the sum of each, then each with the sum of those before it. On one P a single pass.
template <class Partitioner, class Range, class Body>
void scan_range(const Range& range, Body& body) {
  if (range.empty()) return;
  algorithm(nullptr, [&](task_group_context& in) {
    const auto run = [&](Body& by, const Range& part, auto tag) { call_body(in, [&] { by(part, tag); }); };
    if (procs() == 1) return run(body, range, final_scan_tag());
    std::vector<Range> blocks;
    constexpr std::size_t parts_a_proc = 4;
    const int halves = std::same_as<Partitioner, simple_partitioner>
                           ? levels<simple_partitioner>()
                           : static_cast<int>(std::bit_width(parts_a_proc * procs() - 1));
    cut(Range(range), halves, blocks);
    if (blocks.size() == 1) return run(body, range, final_scan_tag());
    const std::size_t last = blocks.size() - 1;
    std::deque<Body> sums;  // of the blocks between the first and the last
    for (std::size_t i = 1; i < last; ++i) sums.emplace_back(body, split());
    // The first block is final at once, by the body itself.
    fj::parallel_for(std::size_t{0}, last,
                     [&](std::size_t i) {
                       i == 0 ? run(body, blocks[0], final_scan_tag()) : run(sums[i - 1], blocks[i], pre_scan_tag());
                     },
                     {.grain = 1});
    // A body that has what is before a block scans that block. So none is joined or assigned before it has a sum, which
    // some could not be.
    for (std::size_t i = 0; i != sums.size(); ++i) sums[i].reverse_join(i == 0 ? body : sums[i - 1]);
    fj::parallel_for(std::size_t{1}, blocks.size(),
                     [&](std::size_t i) { run(i == 1 ? body : sums[i - 2], blocks[i], final_scan_tag()); },
                     {.grain = 1});
    if (!sums.empty()) body.assign(sums.back());
  });
}

/// A body of functions.
template <class Range, class Value, class Scan, class Join>
class scan_functions {
 public:
  scan_functions(const Value& identity, const Scan& scan, const Join& join)
      : identity_(&identity), value_(identity), scan_(&scan), join_(&join) {}
  scan_functions(scan_functions& other, split)
      : identity_(other.identity_), value_(*other.identity_), scan_(other.scan_), join_(other.join_) {}

  template <class Tag>
  void operator()(const Range& range, Tag tag) {
    value_ = std::invoke(*scan_, range, value_, tag);
  }
  void reverse_join(scan_functions& before) { value_ = std::invoke(*join_, before.value_, value_); }
  void assign(scan_functions& other) { value_ = other.value_; }
  const Value& value() const { return value_; }

 private:
  const Value* identity_;
  Value value_;
  const Scan* scan_;
  const Join* join_;
};

}  // namespace fj_detail

template <class Range, class Body>
void parallel_scan(const Range& range, Body& body) {
  fj_detail::scan_range<auto_partitioner>(range, body);
}
template <class Range, class Body, fj_detail::partitioner Partitioner>
void parallel_scan(const Range& range, Body& body, Partitioner&&) {
  fj_detail::scan_range<std::remove_cvref_t<Partitioner>>(range, body);
}
template <class Range, class Value, class Scan, class Join>
Value parallel_scan(const Range& range, const Value& identity, const Scan& scan, const Join& join) {
  fj_detail::scan_functions<Range, Value, Scan, Join> body(identity, scan, join);
  fj_detail::scan_range<auto_partitioner>(range, body);
  return body.value();
}
template <class Range, class Value, class Scan, class Join, fj_detail::partitioner Partitioner>
Value parallel_scan(const Range& range, const Value& identity, const Scan& scan, const Join& join, Partitioner&&) {
  fj_detail::scan_functions<Range, Value, Scan, Join> body(identity, scan, join);
  fj_detail::scan_range<std::remove_cvref_t<Partitioner>>(range, body);
  return body.value();
}

}  // namespace tbb
