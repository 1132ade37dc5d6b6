// Which exception a join of many children throws.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "forkjoin/detail/entry.hpp"
#include "forkjoin/stop.hpp"

namespace fj::inline v0_1::detail {

/// What a join has to throw: the exception of the earliest fork among those that children stored here, or else fj::cancelled
/// if forks were left out.
class first_exception {
 public:
  first_exception() noexcept {}
  ~first_exception() {}  // the union: the join has taken what it held
  first_exception(const first_exception&) = delete;
  first_exception& operator=(const first_exception&) = delete;

  /// Whether there is anything. relaxed: forks only use it to start no more; at a join the children's arrival orders it.
  bool any() const noexcept { return precedence_.load(std::memory_order_relaxed) != none; }

  /// Whether an earlier fork than that one has thrown.
  bool any_before(std::uint64_t number) const noexcept { return precedence_.load(std::memory_order_relaxed) > ~number; }

  /// 0 if there is nothing.
  std::uint64_t precedence() const noexcept { return precedence_.load(std::memory_order_relaxed); }

  /// Whether there is an exception.
  bool thrown() const noexcept { return precedence_.load(std::memory_order_relaxed) > left_out; }

  /// Called by a child that threw, with the number of its fork.
  [[gnu::cold]] void offer(std::uint64_t number, std::exception_ptr error) noexcept {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t precedence = ~number;
    if (precedence <= precedence_.load(std::memory_order_relaxed)) return;
    if (thrown()) {
      std::swap(error_, error);
    } else {
      std::construct_at(&error_, std::move(error));
    }
    precedence_.store(precedence, std::memory_order_relaxed);
  }

  /// Called by a fork that does not start.
  [[gnu::cold]] void leave_out() noexcept {
    const std::scoped_lock lock(mutex_);
    if (!any()) precedence_.store(left_out, std::memory_order_relaxed);
  }

  /// Called after the join, if there is anything. Leaves nothing.
  [[gnu::cold]] std::exception_ptr take() noexcept {
    const std::scoped_lock lock(mutex_);  // children of other strands may not have been joined
    if (precedence_.exchange(none, std::memory_order_relaxed) == left_out) return std::make_exception_ptr(cancelled());
    const std::exception_ptr error = std::move(error_);
    std::destroy_at(&error_);
    return error;
  }

 private:
  // The complement of the fork's number: the first fork's is the greatest, and none is 0.
  static constexpr std::uint64_t none = 0;
  static constexpr std::uint64_t left_out = 1;
  static_assert(~child::forked_elsewhere > left_out);

  std::atomic<std::uint64_t> precedence_{none};
  os::mutex mutex_;
  union {
    std::exception_ptr error_;  // if thrown()
  };
};

}  // namespace fj::inline v0_1::detail
