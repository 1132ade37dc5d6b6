#pragma once

#include "detail/left_out.h"

#include <cstddef>
#include <new>

namespace tbb {

template <class T>
class cache_aligned_allocator {
 public:
  using value_type = T;

  cache_aligned_allocator() = default;
  template <class U>
  cache_aligned_allocator(const cache_aligned_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(n * sizeof(T), alignment));
  }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, alignment); }

  friend bool operator==(const cache_aligned_allocator&, const cache_aligned_allocator&) noexcept { return true; }

 private:
  static constexpr std::align_val_t alignment{alignof(T) > 128 ? alignof(T) : 128};
};

}  // namespace tbb
