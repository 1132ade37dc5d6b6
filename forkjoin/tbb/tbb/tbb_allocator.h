#pragma once

#include "version.h"

#include <cstddef>
#include <memory>
#include <type_traits>

namespace tbb {

/// The standard library's memory: link an allocator such as -ltbbmalloc_proxy to have another.
template <class T>
class tbb_allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::true_type;

  enum malloc_type { scalable, standard };
  static constexpr malloc_type allocator_type() { return standard; }

  tbb_allocator() = default;
  template <class U>
  tbb_allocator(const tbb_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) { return std::allocator<T>().allocate(n); }
  void deallocate(T* memory, std::size_t n) noexcept { std::allocator<T>().deallocate(memory, n); }

  friend bool operator==(const tbb_allocator&, const tbb_allocator&) noexcept { return true; }
};

template <>
class tbb_allocator<void> {
 public:
  using value_type = void;
  template <class U>
  struct rebind {
    using other = tbb_allocator<U>;
  };
};

}  // namespace tbb
