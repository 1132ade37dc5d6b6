// Deques, kept for reuse: a thief may look at one that has just been put aside, so they are never freed while the
// runtime lives.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "../fork/deque.hpp"
#include "../os/mutex.hpp"

namespace fj::inline v0_1::detail {

class deque_pool {
 public:
  /// Deques that hold the records of one stack of that size, at the least. They are reserved, not touched.
  deque_pool(std::size_t stack_size, bool eager) noexcept;
  ~deque_pool();
  deque_pool(const deque_pool&) = delete;
  deque_pool& operator=(const deque_pool&) = delete;

  /// An empty deque, or nullptr when the system refuses memory.
  deque* take() noexcept;

  /// Makes sure that `count` deques without capacity have been made, as a fallback. False when the system refuses memory.
  bool have_fallbacks(std::size_t count) noexcept;

  /// As take, but a fallback when there is no memory for another deque. With one for every P there always is one: a P has
  /// no more than one, as a fiber that leaves it never takes that along.
  deque* take_or_fallback() noexcept;

  /// Takes an empty deque back.
  void give(deque* idle) noexcept;

 private:
  std::size_t bytes() const noexcept;
  deque* make(deque::index capacity) noexcept;

  const deque::index capacity_;
  const bool eager_;
  os::mutex mutex_;
  std::vector<deque*> all_;
  std::vector<deque*> idle_;
  std::vector<deque*> fallbacks_;
  std::size_t fallbacks_made_ = 0;
};

}  // namespace fj::inline v0_1::detail
