// Fields that a worker and the fibers that it runs share. One of them uses the field at a time.
#pragma once

#include <atomic>

namespace fj { inline namespace v0_4 { namespace detail {

/// A value that one strand at a time reads or writes. It passes from strand to strand with something else: with the
/// thread when a worker switches stacks, with a fiber when another worker resumes it. That orders the accesses. But
/// ThreadSanitizer takes every stack for a thread, and the library tells it that a switch of stacks orders nothing, or
/// it would hide the races of users. So the accesses are atomic, and relaxed: they cost nothing.
///
/// Release and Acquire (published) where the value is a pointer to what one side has just made: the release in
/// operator= pairs with the acquire in operator T.
template <class T, std::memory_order Store = std::memory_order_relaxed,
          std::memory_order Load = std::memory_order_relaxed>
class relaxed {
 public:
  constexpr relaxed() noexcept = default;
  constexpr relaxed(T value) noexcept : value_(value) {}

  operator T() const noexcept { return value_.load(Load); }
  T operator->() const noexcept { return *this; }

  relaxed& operator=(T value) noexcept {
    value_.store(value, Store);
    return *this;
  }

  T operator++() noexcept {
    *this = static_cast<T>(*this + 1);
    return *this;
  }

  /// Puts `by` in place of the value, and returns the value.
  T replace(T by) noexcept {
    const T before = *this;
    *this = by;
    return before;
  }

 private:
  std::atomic<T> value_{};
};

/// See relaxed.
template <class T>
using published = relaxed<T, std::memory_order_release, std::memory_order_acquire>;

}}}  // namespace fj::v0_4::detail
