// Room for elements that are moved out of their sequence and back.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

namespace fj { inline namespace v0_4 { namespace detail {

/// Room for n elements, none of them constructed.
template <class T>
class raw_buffer {
 public:
  explicit raw_buffer(std::size_t n) : begin_(std::allocator<T>().allocate(n)), size_(n) {}
  ~raw_buffer() { std::allocator<T>().deallocate(begin_, size_); }
  raw_buffer(const raw_buffer&) = delete;
  raw_buffer& operator=(const raw_buffer&) = delete;

  T* begin() const { return begin_; }

 private:
  T* const begin_;
  const std::size_t size_;
};

/// Transfers between the sequence and the buffer: each moves an element to its new place and ends its life in the old
/// one, so that it lives in one of the two.
struct into_buffer {
  static constexpr bool relocates = true;
  template <class From, class T>
  static void put(From from, T* to) noexcept {
    std::construct_at(to, std::ranges::iter_move(from));
  }
};

struct out_of_buffer {
  static constexpr bool relocates = true;
  template <class T, class To>
  static void put(T* from, To to) noexcept {
    *to = std::move(*from);
    std::destroy_at(from);
  }
};

}}}  // namespace fj::v0_4::detail
