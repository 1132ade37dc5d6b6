// Iterators that are less than pointers.
#pragma once

#include <compare>
#include <iterator>
#include <utility>

namespace test {

/// A random-access iterator that is not contiguous; its `*it` is that of the wrapped iterator.
template <std::random_access_iterator It>
class plain_iterator {
 public:
  using value_type = std::iter_value_t<It>;
  using difference_type = std::iter_difference_t<It>;
  using iterator_category = std::random_access_iterator_tag;
  using reference = std::iter_reference_t<It>;
  using pointer = void;

  plain_iterator() = default;
  explicit plain_iterator(It at) : at_(at) {}

  reference operator*() const noexcept(noexcept(*std::declval<const It&>())) { return *at_; }
  reference operator[](difference_type n) const { return at_[n]; }

  plain_iterator& operator++() { return static_cast<void>(++at_), *this; }
  plain_iterator& operator--() { return static_cast<void>(--at_), *this; }
  plain_iterator operator++(int) { return plain_iterator(at_++); }
  plain_iterator operator--(int) { return plain_iterator(at_--); }
  plain_iterator& operator+=(difference_type n) { return static_cast<void>(at_ += n), *this; }
  plain_iterator& operator-=(difference_type n) { return static_cast<void>(at_ -= n), *this; }
  friend plain_iterator operator+(plain_iterator i, difference_type n) { return i += n; }
  friend plain_iterator operator+(difference_type n, plain_iterator i) { return i += n; }
  friend plain_iterator operator-(plain_iterator i, difference_type n) { return i -= n; }
  friend difference_type operator-(const plain_iterator& a, const plain_iterator& b) { return a.at_ - b.at_; }
  friend bool operator==(const plain_iterator&, const plain_iterator&) = default;
  friend auto operator<=>(const plain_iterator& a, const plain_iterator& b) { return a.at_ <=> b.at_; }

  // A user's comma operator can do anything, so algorithms must not use it.
  template <class T>
  friend void operator,(const plain_iterator&, T&&) = delete;
  template <class T>
  friend void operator,(T&&, const plain_iterator&) = delete;

 private:
  It at_{};
};

/// The sequence with such iterators.
template <class Range>
auto plain_begin(Range& range) {
  return plain_iterator(std::begin(range));
}
template <class Range>
auto plain_end(Range& range) {
  return plain_iterator(std::end(range));
}

static_assert(std::random_access_iterator<plain_iterator<int*>>);
static_assert(!std::contiguous_iterator<plain_iterator<int*>>);

}  // namespace test
