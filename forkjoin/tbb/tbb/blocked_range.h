// A range of numbers, pointers or random-access iterators, with a grain size.
#pragma once

#include "partitioner.h"

#include <cstddef>

namespace tbb {

template <class Value>
class blocked_range {
 public:
  using const_iterator = Value;
  using size_type = std::size_t;

  blocked_range(Value begin, Value end, size_type grainsize = 1) : end_(end), begin_(begin), grainsize_(grainsize) {}
  blocked_range(blocked_range& r, split)
      : end_(r.end_), begin_(r.begin_ + step(r.size() / 2)), grainsize_(r.grainsize_) {
    r.end_ = begin_;
  }
  blocked_range(blocked_range& r, proportional_split& by)
      : end_(r.end_), begin_(r.begin_ + step(left_part(r.size(), by))), grainsize_(r.grainsize_) {
    r.end_ = begin_;
  }

  const_iterator begin() const { return begin_; }
  const_iterator end() const { return end_; }
  size_type size() const { return static_cast<size_type>(end_ - begin_); }
  size_type grainsize() const { return grainsize_; }
  bool empty() const { return !(begin_ < end_); }
  bool is_divisible() const { return grainsize_ < size(); }

 private:
  using difference = decltype(std::declval<Value>() - std::declval<Value>());

  static difference step(size_type n) { return static_cast<difference>(n); }
  static size_type left_part(size_type n, const proportional_split& by) {
    return n - static_cast<size_type>(static_cast<double>(n) * static_cast<double>(by.right()) /
                                          static_cast<double>(by.left() + by.right()) +
                                      0.5);
  }

  Value end_, begin_;
  size_type grainsize_;
};

}  // namespace tbb
