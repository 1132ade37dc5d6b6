// Keeps deques for reuse. A thief may look at a deque that a P has just dropped, so none is freed while the runtime
// lives.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "forkjoin/abi/mutex.hpp"
#include "runtime/fork/deque.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class deque_pool {
 public:
  /// Each deque can hold the records of at least one stack of that size. Memory is reserved, not touched.
  deque_pool(std::size_t stack_size, bool eager) noexcept;
  ~deque_pool();
  deque_pool(const deque_pool&) = delete;
  deque_pool& operator=(const deque_pool&) = delete;

  /// An empty deque, or nullptr when the system refuses memory.
  deque* take() noexcept;

  /// Makes sure that there are `count` fallback deques, without room for public records: for a P whose fiber leaves
  /// while the system refuses memory. Forks run as plain calls until the P gets a better one. False when the system
  /// refuses memory.
  bool have_fallbacks(std::size_t count) noexcept {
    return fallbacks_made_.load(std::memory_order_relaxed) >= count || make_fallbacks(count);
  }

  /// As take, but a fallback deque when the system refuses memory. One for every P is enough: a P has at most one,
  /// because a fallback deque never holds records when a fiber leaves, so the fiber does not take it along.
  deque* take_or_fallback() noexcept;

  /// Takes back an empty deque.
  void give(deque* idle) noexcept;

  /// Calls visit(deque, bytes) with the memory of each that there is. While other threads are stopped, perhaps in here:
  /// then it does nothing, and returns false.
  template <class Visit>
  [[nodiscard]] bool try_for_each(Visit visit) noexcept {
    if (!mutex_.try_lock()) return false;
    for (const deque* d : all_) visit(d, bytes());
    mutex_.unlock();
    return true;
  }

 private:
  std::size_t bytes() const noexcept;
  deque* make(deque::index capacity) noexcept;
  bool make_fallbacks(std::size_t count) noexcept;

  const deque::index capacity_;
  const bool eager_;
  os::mutex mutex_;
  std::vector<deque*> all_;
  std::vector<deque*> idle_;
  std::vector<deque*> fallbacks_;
  std::atomic<std::size_t> fallbacks_made_{0};  // under the mutex, or read as a hint: it only grows
};

}}}  // namespace fj::v0_4::detail
