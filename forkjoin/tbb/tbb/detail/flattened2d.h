// The elements of containers in a container as one sequence.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace tbb {

namespace fj_detail {

/// As oneTBB's, an iterator may be made of a const one: the container itself is none.
template <class Container, class Value>
class flat_iterator {
  using outer = typename Container::const_iterator;
  using inner = typename Container::value_type::const_iterator;

 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = std::remove_const_t<Value>;
  using difference_type = std::ptrdiff_t;
  using reference = Value&;
  using pointer = Value*;

  flat_iterator() = default;
  flat_iterator(outer at, outer end) : outer_(at), end_(end) { find_element(); }
  template <class Other>
  flat_iterator(const flat_iterator<Container, Other>& other)
      : outer_(other.outer_), end_(other.end_), inner_(other.inner_) {}

  reference operator*() const { return const_cast<reference>(*inner_); }
  pointer operator->() const { return std::addressof(**this); }
  flat_iterator& operator++() {
    if (++inner_ == std::end(*outer_)) {
      ++outer_;
      find_element();
    }
    return *this;
  }
  flat_iterator operator++(int) {
    flat_iterator before = *this;
    ++*this;
    return before;
  }
  template <class Other>
  bool operator==(const flat_iterator<Container, Other>& other) const {
    return outer_ == other.outer_ && (outer_ == end_ || inner_ == other.inner_);
  }

 private:
  template <class, class>
  friend class flat_iterator;

  // The first element at or behind outer_.
  void find_element() {
    for (; outer_ != end_; ++outer_) {
      inner_ = std::begin(*outer_);
      if (inner_ != std::end(*outer_)) return;
    }
    inner_ = inner();
  }

  outer outer_{}, end_{};
  inner inner_{};
};

}  // namespace fj_detail

/// Refers to the container of containers.
template <class Container>
class flattened2d {
  using inner = typename Container::value_type;

 public:
  using size_type = typename inner::size_type;
  using difference_type = typename inner::difference_type;
  using allocator_type = typename inner::allocator_type;
  using value_type = typename inner::value_type;
  using reference = typename inner::reference;
  using const_reference = typename inner::const_reference;
  using pointer = typename inner::pointer;
  using const_pointer = typename inner::const_pointer;
  using iterator = fj_detail::flat_iterator<Container, value_type>;
  using const_iterator = fj_detail::flat_iterator<Container, const value_type>;

  explicit flattened2d(const Container& of) : flattened2d(of, of.begin(), of.end()) {}
  flattened2d(const Container&, typename Container::const_iterator first, typename Container::const_iterator last)
      : first_(first), last_(last) {}

  iterator begin() { return {first_, last_}; }
  iterator end() { return {last_, last_}; }
  const_iterator begin() const { return {first_, last_}; }
  const_iterator end() const { return {last_, last_}; }
  size_type size() const {
    size_type n = 0;
    for (auto at = first_; at != last_; ++at) n += at->size();
    return n;
  }

 private:
  typename Container::const_iterator first_, last_;
};

template <class Container>
flattened2d<Container> flatten2d(const Container& of) {
  return flattened2d<Container>(of);
}
template <class Container>
flattened2d<Container> flatten2d(const Container& of, typename Container::const_iterator first,
                                 typename Container::const_iterator last) {
  return flattened2d<Container>(of, first, last);
}

}  // namespace tbb
