#include "runtime/stacks/deque_pool.hpp"

#include <algorithm>
#include <new>

#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/memory/pages.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

deque_pool::deque_pool(std::size_t stack_size, bool eager) noexcept
    : capacity_(std::clamp<deque::index>(stack_size / tuning::least_frame, 64, deque::max_capacity)), eager_(eager) {}

deque_pool::~deque_pool() {
  for (deque* d : all_) {
    d->~deque();
    os::release_pages(reinterpret_cast<std::byte*>(d), bytes());
  }
}

std::size_t deque_pool::bytes() const noexcept {
  return os::round_to_pages(sizeof(deque) + capacity_ * sizeof(deque::slot));
}

// Under the mutex.
deque* deque_pool::make(deque::index capacity) noexcept {
  try {
    // First makes room in all lists, so that give cannot fail.
    for (auto* const list : {&all_, &idle_, &fallbacks_})
      if (list->capacity() <= all_.size()) list->reserve(2 * (all_.size() + 1));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  std::byte* const memory = os::reserve_pages(bytes());
  if (!memory) return nullptr;
  // Zeroed pages are slots that hold nullptr. They are not touched before they are used.
  all_.push_back(new (memory) deque(capacity, eager_));
  os::happens_before(all_.back()->identity());
  return all_.back();
}

deque* deque_pool::take() noexcept {
  const locked lock(mutex_);
  if (idle_.empty()) return make(capacity_);
  deque* const d = idle_.back();
  idle_.pop_back();
  return d;
}

bool deque_pool::make_fallbacks(std::size_t count) noexcept {
  const locked lock(mutex_);
  for (; fallbacks_made_.load(std::memory_order_relaxed) < count;
       fallbacks_made_.fetch_add(1, std::memory_order_relaxed)) {
    deque* const d = make(0);
    if (!d) return false;
    fallbacks_.push_back(d);
  }
  return true;
}

deque* deque_pool::take_or_fallback() noexcept {
  if (deque* const d = take()) return d;
  const locked lock(mutex_);
  if (fallbacks_.empty()) return nullptr;
  deque* const d = fallbacks_.back();
  fallbacks_.pop_back();
  return d;
}

void deque_pool::give(deque* idle) noexcept {
  const locked lock(mutex_);
  (idle->has_capacity() ? idle_ : fallbacks_).push_back(idle);
}

}}}  // namespace fj::v0_4::detail
