// The progress of a deque's owner in its loops, for thieves that wait before they force its records. When a loop is
// shared forkjoin/loops/chunks.hpp decides.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/atomic.hpp"
#include "forkjoin/abi/cache_line.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// The owner makes progress at each part of a loop that it forks quietly (forkjoin/detail/quiet.hpp). As long as it
/// comes from part to part, a thief need not force the rest: an owner whose loop is long shares it by itself. All are
/// hints.
class loop_progress {
 public:
  /// The owner's, when it begins a part.
  void make() noexcept { made_.store(made_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  /// By any thread: how many parts the owner has begun; the number wraps around.
  std::uint32_t made() const noexcept { return made_.load(std::memory_order_relaxed); }

  /// The owner's: whether a thief has found since then that the owner was long in that part. True once for each part.
  [[gnu::always_inline]] bool was_slow() noexcept {
    const std::uint32_t made = made_.load(std::memory_order_relaxed);
    if (slow_at_.load(std::memory_order_relaxed) != made) return false;
    slow_at_.store(made - 1, std::memory_order_relaxed);
    return true;
  }

  /// The owner's, if it was slow: for how long by now, at the least.
  std::int64_t slow_for(std::int64_t now) const noexcept {
    const std::int64_t at = noted_at_.load(std::memory_order_relaxed);
    return at != 0 ? now - at : 0;
  }

  /// The thieves': true if the owner has made progress since a thief called this last. An owner without progress for so
  /// long is slow.
  bool note(std::int64_t now, std::int64_t patience_ns) noexcept {
    const std::uint32_t made = made_.load(std::memory_order_relaxed);
    if (made == noted_.load(std::memory_order_relaxed)) {
      if (!was_noted_since(now - patience_ns) && slow_at_.load(std::memory_order_relaxed) != made)
        slow_at_.store(made, std::memory_order_relaxed);
      return false;
    }
    noted_.store(made, std::memory_order_relaxed);
    noted_at_.store(now, std::memory_order_relaxed);
    return true;
  }

  /// Whether a thief noted progress at that time or later.
  bool was_noted_since(std::int64_t time) const noexcept {
    const std::int64_t at = noted_at_.load(std::memory_order_relaxed);
    return at != 0 && at >= time;
  }

 private:
  alignas(cache_line) os::atomic<std::uint32_t> made_{0};
  os::atomic<std::uint32_t> slow_at_{~std::uint32_t{0}};  // made_ when a thief, seldom, found the owner slow
  alignas(cache_line) os::atomic<std::uint32_t> noted_{0};
  os::atomic<std::int64_t> noted_at_{0};
};

}}}  // namespace fj::v0_4::detail
