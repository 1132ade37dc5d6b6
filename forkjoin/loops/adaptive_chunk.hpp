// How many elements a loop without a grain does between two looks for hungry workers: found by the clock.
#pragma once

#include <chrono>
#include <cstddef>

namespace fj { inline namespace v0_2 { namespace detail {

/// The chunk of one strand in one loop. It starts with a single element, which may take long, and grows fast, as most do
/// not. A chunk of some microseconds hides the cost of the clock and of the look for hungry workers; a chunk of more than
/// some tens keeps these workers waiting.
class adaptive_chunk {
 public:
  std::size_t size() const noexcept { return size_; }

  void start() noexcept { started_ = clock::now(); }

  /// Called after each chunk.
  void adapt() noexcept {
    const clock::time_point now = clock::now();
    const clock::duration taken = now - started_;
    started_ = now;
    if (taken < too_short) {
      if (size_ < most) size_ *= taken < too_short / 8 ? 8u : 2u;
    } else if (taken > too_long && size_ > 1) {
      size_ /= 2;
    }
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t most = std::size_t(1) << (8 * sizeof(std::size_t) - 8);  // loops may be over nothing
  static constexpr clock::duration too_short = std::chrono::microseconds(8);
  static constexpr clock::duration too_long = std::chrono::microseconds(40);

  std::size_t size_ = 1;
  clock::time_point started_;
};

}}}  // namespace fj::v0_2::detail
