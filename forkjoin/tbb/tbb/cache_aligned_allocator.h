#pragma once

#include "version.h"

#include "detail/left_out.h"

#include <cstddef>
#include <new>
#include <type_traits>

namespace tbb {

template <class T>
class cache_aligned_allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::true_type;

  cache_aligned_allocator() = default;
  template <class U>
  cache_aligned_allocator(const cache_aligned_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    if (n > max_size()) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(n * sizeof(T), alignment));
  }
  static constexpr std::size_t max_size() noexcept {
    return (static_cast<std::size_t>(-1) - static_cast<std::size_t>(alignment)) / sizeof(T);
  }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, alignment); }

  friend bool operator==(const cache_aligned_allocator&, const cache_aligned_allocator&) noexcept { return true; }

 private:
  static constexpr std::align_val_t alignment{alignof(T) > 128 ? alignof(T) : 128};
};

template <>
class cache_aligned_allocator<void> {
 public:
  using value_type = void;
  template <class U>
  struct rebind {
    using other = cache_aligned_allocator<U>;
  };
};

}  // namespace tbb
