#include "runtime/sched/poller.hpp"

#include <bit>
#include <cstddef>

#include "forkjoin/abi/os/clock.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// An entry and the number of its life in one word: entries are aligned, and addresses end far below 2^54.
constexpr unsigned life_bits = 16, aligned_bits = std::countr_zero(alignof(poll_entry));
static_assert(sizeof(poll_entry::life) * 8 == life_bits);

std::uint64_t data_of(poll_entry& e, poll_entry::life of) noexcept {
  return reinterpret_cast<std::uintptr_t>(&e) >> aligned_bits << life_bits | of;
}

void tell(const os::io_events& events, std::size_t count, claimed_polls& woken) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const os::io_event& event = events[i];
    auto& e = *reinterpret_cast<poll_entry*>(event.data >> life_bits << aligned_bits);
    e.happened(static_cast<poll_entry::life>(event.data), event.readable, event.writable, woken);
  }
}

}  // namespace

int poller::open() noexcept {
  const locked lock(mutex_);
  if (is_open_.load(std::memory_order_relaxed)) return 0;
  if (const int error = events_.open()) return error;
  opened_in_ = os::process_generation();
  is_open_.store(true, std::memory_order_release);  // release: pairs with the acquire in poller.hpp: is_open
  return 0;
}

int poller::watch(int descriptor, poll_entry& e, poll_entry::life of) noexcept {
  return events_.add(descriptor, data_of(e, of));
}

// The copy that fork(2) makes of a process shares its epoll: what is removed there is removed here. And another thread
// of the parent process may have held the mutex at the time.
void poller::unwatch(int descriptor) noexcept {
  if (!is_open() || opened_in_ != os::process_generation()) return;
  const locked lock(mutex_);
  if (is_open()) events_.remove(descriptor);
}

bool poller::poll() noexcept {
  if (!awaited() || sleeps_.load(std::memory_order_relaxed) || looks_.exchange(true, std::memory_order_relaxed))
    return false;
  os::io_events events;
  claimed_polls woken;
  tell(events, events_.look(events), woken);
  looked_at_.store(os::now_ns(), std::memory_order_relaxed);
  looks_.store(false, std::memory_order_relaxed);
  const bool any = woken.any();
  woken.wake_all(precedence::soon);
  return any;
}

void poller::sleep(claimed_polls& woken, std::int64_t until) noexcept {
  os::io_events events;
  sleeps_.store(true, std::memory_order_relaxed);
  const std::size_t count = events_.sleep(events, until);
  sleeps_.store(false, std::memory_order_relaxed);
  tell(events, count, woken);
}

void poller::close() noexcept {
  const locked lock(mutex_);
  is_open_.store(false, std::memory_order_relaxed);
  events_.close();
}

}}}  // namespace fj::v0_4::detail
