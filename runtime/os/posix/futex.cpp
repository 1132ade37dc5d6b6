// A mutex and a condition for each group of addresses. A sleeper compares its word under the mutex, and a waker, which
// has changed the word before, takes that mutex: so either the sleeper sees the change, or the waker finds it asleep.
#include <pthread.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <tuple>

#include "runtime/os/system_futex.hpp"
#include "runtime/os/thread.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

struct group {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
};

std::array<group, 128> groups;

// By CLOCK_MONOTONIC.
void make_conditions() noexcept {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  for (group& each : groups) pthread_cond_init(&each.changed, &attributes);
  pthread_condattr_destroy(&attributes);
}

void make_groups() {
  for (group& each : groups) pthread_mutex_init(&each.mutex, nullptr);
  make_conditions();
}

group& group_of(const std::atomic<std::uint32_t>& word) noexcept {
  static pthread_once_t made = PTHREAD_ONCE_INIT;
  pthread_once(&made, &make_groups);
  return groups[reinterpret_cast<std::uintptr_t>(&word) / 8 * 0x9E37'79B9'7F4A'7C15u >> 57];
}
static_assert(std::tuple_size_v<decltype(groups)> == 1 << (64 - 57));

// No other thread may hold a mutex while fork(2) copies it. In the child the sleepers are missing that conditions know
// of.
void lock_all() {
  static const std::atomic<std::uint32_t> any{0};
  group_of(any);
  for (group& each : groups) pthread_mutex_lock(&each.mutex);
}
void unlock_all() {
  for (group& each : groups) pthread_mutex_unlock(&each.mutex);
}
void unlock_all_in_child() {
  make_conditions();
  unlock_all();
}

}  // namespace

bool system_futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t at) noexcept {
  group& g = group_of(word);
  int error = 0;
  pthread_mutex_lock(&g.mutex);
  // acquire: pairs with the release by which the word was changed
  if (word.load(std::memory_order_acquire) != expected) {
  } else if (at == std::numeric_limits<std::int64_t>::max()) {
    pthread_cond_wait(&g.changed, &g.mutex);
  } else {
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t time = at < 0 ? 0 : at;
    const timespec end{static_cast<time_t>(time / second), static_cast<long>(time % second)};
    error = pthread_cond_timedwait(&g.changed, &g.mutex, &end);
  }
  pthread_mutex_unlock(&g.mutex);
  return error != ETIMEDOUT;
}

// All sleepers of the group, one of which may be the one that is meant.
void system_futex_wake(const std::atomic<std::uint32_t>& word, bool) noexcept {
  group& g = group_of(word);
  pthread_mutex_lock(&g.mutex);
  pthread_cond_broadcast(&g.changed);
  pthread_mutex_unlock(&g.mutex);
}

// Before all others, so that they may sleep and wake in what they have registered.
bool at_fork(void (*before)(), void (*after)(), void (*in_child)()) noexcept {
  static const int first = pthread_atfork(&lock_all, &unlock_all, &unlock_all_in_child);
  static_cast<void>(first);
  static_cast<void>(pthread_atfork(before, after, in_child));
  return true;
}

}}}}  // namespace fj::v0_4::detail::os
