#include "runtime/os/futex.hpp"

#include <algorithm>

#include "forkjoin/abi/os/clock.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/system_futex.hpp"
#include "runtime/os/turns.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

bool sleep_in_turn(turns& all, const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                   std::int64_t until) noexcept {
  // acquire: pairs with the release by which the word was changed, though the turn orders it already
  return word.load(std::memory_order_acquire) != expected || all.sleep(&word, until);
}

}  // namespace

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  if (turns* const all = turns::mine()) {
    sleep_in_turn(*all, word, expected, turns::never);
    return;
  }
  system_futex_wait(word, expected);
}

bool futex_wait_until(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t at) noexcept {
  if (turns* const all = turns::mine()) return sleep_in_turn(*all, word, expected, at);
  return system_futex_wait(word, expected, at);
}

void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
  if (turns* const all = turns::mine()) all->wake(&word);
  system_futex_wake(word);
}

namespace {
std::atomic<looks::function> what_looks_do{nullptr};
}

// release: pairs with the acquire in the constructor, by which what the function needs is there
void looks::are(function what) noexcept { what_looks_do.store(what, std::memory_order_release); }

// acquire: pairs with the release in are
looks::looks(bool wanted) noexcept
    : what_(wanted ? what_looks_do.load(std::memory_order_acquire) : nullptr), delay_ns_(tuning::first_look_ns) {
  if (what_) at_ns_ = now_ns() + delay_ns_;
}

bool looks::sleep(std::atomic<std::uint32_t>& word) noexcept {
  // acquire, here and below: pairs with the release or the stronger store by which another thread sets the word, so
  // that what that thread did before is visible (sched/sleep_word.hpp: signal; wait/waiter.cpp: wake_waiter)
  while (word.load(std::memory_order_acquire) == 0) {
    if (!what_) {
      futex_wait(word, 0);
    } else if (!futex_wait_until(word, 0, at_ns_)) {
      return word.load(std::memory_order_acquire) != 0;
    }
  }
  return true;
}

bool looks::is_due() const noexcept { return what_ && now_ns() >= at_ns_; }

void looks::look() noexcept {
  what_(*this);
  since_last_ns = delay_ns_ = std::min(2 * delay_ns_, longest_ns);
  at_ns_ = now_ns() + delay_ns_;
}

}}}}  // namespace fj::v0_4::detail::os
