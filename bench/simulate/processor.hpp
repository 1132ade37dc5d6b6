// The processors of a simulation, and their deques.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <vector>

#include "bench/simulate/strand.hpp"
#include "runtime/base/counters.hpp"
#include "runtime/os/pages.hpp"
#include "runtime/stacks/stack_cache.hpp"

namespace simulate {

/// The library's deque with its slots behind it, in pages that are not touched before they are used.
class deque_in_pages {
 public:
  explicit deque_in_pages(deque::index capacity)
      : bytes_(fj::detail::os::round_to_pages(sizeof(deque) + capacity * sizeof(deque::slot))) {
    std::byte* const memory = fj::detail::os::reserve_pages(bytes_);
    if (!memory) throw std::bad_alloc();
    deque_ = new (memory) deque(capacity, false);
  }
  ~deque_in_pages() { fj::detail::os::release_pages(reinterpret_cast<std::byte*>(deque_), bytes_); }
  deque_in_pages(const deque_in_pages&) = delete;
  deque_in_pages& operator=(const deque_in_pages&) = delete;

  deque& operator*() const noexcept { return *deque_; }
  deque* operator->() const noexcept { return deque_; }

 private:
  std::size_t bytes_;
  deque* deque_;
};

/// As fj::detail::processor.
struct processor {
  processor(unsigned number, deque::index capacity) : index(number), memory(capacity), active(&*memory) {}

  const unsigned index;
  unsigned tick = 0;
  processor* next = nullptr;
  fj::detail::basic_stack_cache<fiber> stacks;
  fj::detail::tallies count;
  const deque_in_pages memory;
  deque* const active;
};

/// As fj::detail::processors. Looks at deques take time where a worker goes round in random order.
class processors {
 public:
  processors(unsigned count, deque::index capacity) {
    for (unsigned i = 0; i < count; ++i) {
      all_.push_back(std::make_unique<processor>(i, capacity));
      if (std::gcd(i + 1, count) == 1) steps_.push_back(i + 1);
    }
  }

  unsigned count() const noexcept { return static_cast<unsigned>(all_.size()); }
  processor& operator[](unsigned index) noexcept { return *all_[index]; }

  std::uint32_t steps() const noexcept { return static_cast<std::uint32_t>(steps_.size()); }
  unsigned step(std::uint32_t index) const noexcept { return steps_[index]; }

  /// Calls visit(deque) for each P's as long as it returns true, a look after the one before.
  template <class Visit>
  void for_each_deque(unsigned first, unsigned step, Visit visit) {
    timeline& time = timeline::current();
    const unsigned count = this->count();
    for (unsigned i = 0, at = first; i < count; ++i, at = at + step < count ? at + step : at + step - count) {
      time.pass(time.price.look);
      if (!visit(*all_[at]->active)) return;
    }
  }

  /// The same all at once, by a worker that has announced that it parks: that costs `park`.
  template <class Visit>
  void for_each_deque(Visit visit) {
    for (const auto& p : all_) visit(*p->active);
  }

 private:
  std::vector<std::unique_ptr<processor>> all_;
  std::vector<unsigned> steps_;
};

}  // namespace simulate
