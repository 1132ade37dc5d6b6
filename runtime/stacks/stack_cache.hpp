// Free stacks that a P keeps, so that scopes' forks and thefts need no stack from the pool.
#pragma once

#include <array>
#include <cstddef>

#include "forkjoin/abi/relaxed.hpp"
#include "runtime/base/tuning.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct fiber;

/// Some free fibers, the one used last on top. Only the worker that holds the P uses it.
template <class Fiber>
class basic_stack_cache {
 public:
  static constexpr std::size_t limit = tuning::stacks_at_hand;

  bool empty() const noexcept { return count_ == 0; }
  std::size_t count() const noexcept { return count_; }

  /// False if it is full.
  [[gnu::always_inline]] bool push(Fiber& f) noexcept {
    const std::size_t count = count_;
    if (count == limit) [[unlikely]]
      return false;
    stacks_[count] = &f;
    count_ = count + 1;
    return true;
  }

  /// The one pushed last. Only if there is one.
  [[gnu::always_inline]] Fiber& pop() noexcept {
    const std::size_t count = count_ - 1;
    count_ = count;
    return *stacks_[count];
  }

 private:
  relaxed<std::size_t> count_ = 0;
  std::array<published<Fiber*>, limit> stacks_;
};

using stack_cache = basic_stack_cache<fiber>;

}}}  // namespace fj::v0_4::detail
