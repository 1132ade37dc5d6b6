// The first place, in the order of a sequence, at which a loop came to an end: by an exception or by a match.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>

namespace fj { inline namespace v0_4 { namespace detail {

/// Relaxed: while the loop runs it is a hint, which lets parts further right not start; at the end the joins order it.
class earliest {
 public:
  static constexpr std::size_t none = (std::numeric_limits<std::size_t>::max)();

  /// `end`: a place that ends the loop in any case, as its length does.
  explicit earliest(std::size_t end = none) noexcept : place_(end) {}

  [[gnu::cold, gnu::noinline]] void note(std::size_t place) noexcept {
    std::size_t first = place_.load(std::memory_order_relaxed);
    while (place < first && !place_.compare_exchange_weak(first, place, std::memory_order_relaxed)) {}
  }

  std::size_t place() const noexcept { return place_.load(std::memory_order_relaxed); }
  bool is_before(std::size_t place) const noexcept { return place_.load(std::memory_order_relaxed) < place; }

 private:
  std::atomic<std::size_t> place_;
};

}}}  // namespace fj::v0_4::detail
