// A table in pages of its own, for code that must not use the heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/os/memory/pages.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

template <class T>
class own_table {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  own_table() = default;
  own_table(const own_table&) = delete;
  own_table& operator=(const own_table&) = delete;
  ~own_table() {
    if (all_) release_pages(reinterpret_cast<std::byte*>(all_), bytes_);
  }

  /// Once: room for so many. False if the system refuses it.
  [[nodiscard]] bool reserve(std::size_t most) noexcept {
    bytes_ = round_to_pages((most + 1) * sizeof(T));
    all_ = reinterpret_cast<T*>(reserve_pages(bytes_));
    most_ = all_ ? bytes_ / sizeof(T) : 0;
    return all_;
  }

  /// What has no room is left out; then is_full.
  void push(const T& one) noexcept {
    is_full_ |= size_ == most_;
    if (size_ < most_) all_[size_++] = one;
  }
  T pop() noexcept { return all_[--size_]; }
  void shrink(std::size_t size) noexcept { size_ = size; }

  bool is_full() const noexcept { return is_full_; }
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return all_[i]; }
  T* begin() noexcept { return all_; }
  T* end() noexcept { return all_ + size_; }

  /// Sorted by `begin`: the last one that begins at or before the address; nullptr: none does.
  T* at_or_before(std::uintptr_t address) noexcept {
    T* const after = std::upper_bound(begin(), end(), address,
                                      [](std::uintptr_t a, const T& each) noexcept { return a < each.begin; });
    return after == begin() ? nullptr : after - 1;
  }

  /// Its own memory.
  std::uintptr_t memory() const noexcept { return reinterpret_cast<std::uintptr_t>(all_); }
  std::size_t bytes() const noexcept { return all_ ? bytes_ : 0; }

 private:
  T* all_ = nullptr;
  std::size_t size_ = 0, most_ = 0, bytes_ = 0;
  bool is_full_ = false;
};

}}}}  // namespace fj::v0_4::detail::os
