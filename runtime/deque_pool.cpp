#include "runtime/deque_pool.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "runtime/os/pages.hpp"
#include "runtime/os/race_detector.hpp"

namespace fj::detail {

// A fork takes a frame with a record, a return address and what the forking function keeps: more than this.
constexpr std::size_t least_frame = 32;

deque_pool::deque_pool(std::size_t stack_size, bool eager) noexcept
    : capacity_(std::clamp<deque::index>(stack_size / least_frame, 64, deque::max_capacity)), eager_(eager) {}

deque_pool::~deque_pool() {
  for (deque* d : all_) {
    d->~deque();
    os::release_pages(reinterpret_cast<std::byte*>(d), bytes());
  }
}

std::size_t deque_pool::bytes() const noexcept {
  return os::round_to_pages(sizeof(deque) + (capacity_ + 1) * sizeof(deque::slot));
}

deque* deque_pool::take() noexcept {
  std::scoped_lock guard(mutex_);
  if (!idle_.empty()) {
    deque* const d = idle_.back();
    idle_.pop_back();
    return d;
  }
  try {
    // Room in both lists first, so that giving back cannot fail.
    all_.reserve(all_.size() + 1);
    idle_.reserve(all_.size() + 1);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  std::byte* const memory = os::reserve_pages(bytes());
  if (!memory) return nullptr;
  // Zeroed pages are slots that hold nullptr; they are not touched before they are used.
  all_.push_back(new (memory) deque(capacity_, eager_));
  os::publish(all_.back()->identity());
  return all_.back();
}

void deque_pool::give(deque* idle) noexcept {
  std::scoped_lock guard(mutex_);
  idle_.push_back(idle);
}

}  // namespace fj::detail
