// Which error a join of many children has. The model checks run it on errors of theirs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "forkjoin/abi/atomic.hpp"
#include "forkjoin/abi/mutex.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// The error of the earliest fork among those that children stored here, or that forks were left out.
template <class Error>
class first_error {
 public:
  first_error() noexcept {}
  ~first_error() {}  // the union: the join has taken what it held
  first_error(const first_error&) = delete;
  first_error& operator=(const first_error&) = delete;

  /// Whether there is anything. relaxed: forks only use it to start no more; at a join the children's arrival orders
  /// it.
  bool any() const noexcept { return precedence_.load(std::memory_order_relaxed) != none; }

  /// Whether an earlier fork than that one has thrown.
  bool any_before(std::uint64_t number) const noexcept { return precedence_.load(std::memory_order_relaxed) > ~number; }

  /// 0 if there is nothing.
  std::uint64_t precedence() const noexcept { return precedence_.load(std::memory_order_relaxed); }

  /// Whether there is an error.
  bool thrown() const noexcept { return precedence_.load(std::memory_order_relaxed) > left_out; }

  /// Whether a fork may have that number.
  static constexpr bool may_be_number(std::uint64_t number) noexcept { return ~number > left_out; }

  /// Called by a child that threw, with the number of its fork.
  [[gnu::cold]] void offer(std::uint64_t number, Error error) noexcept {
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

  /// Called after the join, if there is anything. Leaves nothing. If forks were left out, the error is `of_left_out()`.
  template <class OfLeftOut>
  [[gnu::cold]] Error take(OfLeftOut of_left_out) noexcept {
    const std::scoped_lock lock(mutex_);  // children of other strands may not have been joined
    if (precedence_.exchange(none, std::memory_order_relaxed) == left_out) return of_left_out();
    const Error error = std::move(error_);
    std::destroy_at(&error_);
    return error;
  }

 protected:
  // The complement of the fork's number: the first fork's is the greatest, and none is 0.
  static constexpr std::uint64_t none = 0;
  static constexpr std::uint64_t left_out = 1;

 private:
  os::atomic<std::uint64_t> precedence_{none};
  os::mutex mutex_;
  union {
    Error error_;  // if thrown()
  };
};

}}}  // namespace fj::v0_4::detail
