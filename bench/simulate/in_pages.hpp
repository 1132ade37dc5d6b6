// Memory for one deque, simulated or real.
#pragma once

#include <cstddef>
#include <new>

#include "runtime/os/memory/pages.hpp"

namespace simulate {

/// A deque with its slots behind it, in pages that are not touched before they are used.
template <class Deque>
class in_pages {
 public:
  explicit in_pages(typename Deque::index capacity)
      : bytes_(fj::detail::os::round_to_pages(sizeof(Deque) + capacity * sizeof(typename Deque::slot))) {
    std::byte* const memory = fj::detail::os::reserve_pages(bytes_);
    if (!memory) throw std::bad_alloc();
    deque_ = new (memory) Deque(capacity, false);
  }
  ~in_pages() { fj::detail::os::release_pages(reinterpret_cast<std::byte*>(deque_), bytes_); }
  in_pages(const in_pages&) = delete;
  in_pages& operator=(const in_pages&) = delete;

  Deque& operator*() const noexcept { return *deque_; }
  Deque* operator->() const noexcept { return deque_; }

 private:
  std::size_t bytes_;
  Deque* deque_;
};

}  // namespace simulate
