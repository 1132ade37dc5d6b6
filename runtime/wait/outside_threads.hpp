// Threads outside of any runtime that wait in the library.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/os/futex.hpp"
#include "runtime/stacks/wait_place.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A thread that has slept for long, and sleeps until another thread ends that. Lies in the frame of the function that
/// waits.
class outside_sleeper {
 public:
  /// `is_over(about)`: whether the sleep has been ended, so that the thread goes on without any more help. A closure
  /// without captures. Other threads may ask that until this object has been destroyed.
  template <class T, class Question>
  outside_sleeper(const wait_place& where, const T& about, Question) noexcept
      : place(where),
        is_over_([](const void* of) noexcept -> bool { return Question()(*static_cast<const T*>(of)); }),
        about_(&about) {}
  template <class T, class Question>
  outside_sleeper(const wait_place& where, const T&& about,
                  Question) = delete;  // would be gone before the sleep is over
  ~outside_sleeper();
  outside_sleeper(const outside_sleeper&) = delete;
  outside_sleeper& operator=(const outside_sleeper&) = delete;

  /// When the thread has slept for long: others know of it from now on, and it looks at them.
  void look() noexcept;
  bool goes_on() const noexcept { return is_over_(about_); }

  const wait_place place;
  os::looks looks;  ///< when the next look is due
  list_links<outside_sleeper> links;

 private:
  bool (*const is_over_)(const void* about) noexcept;
  const void* const about_;
  bool known_ = false;
};

/// Of the process.
struct outside_sleepers {
  os::mutex mutex;
  linked_list<outside_sleeper, &outside_sleeper::links> all FORKJOIN_GUARDED_BY(mutex);
  /// How many threads wait outside for a time or a descriptor.
  std::atomic<std::uint32_t> others{0};
};
inline outside_sleepers& sleepers_outside() noexcept {
  static constinit outside_sleepers sleepers;
  return sleepers;
}

inline outside_sleeper::~outside_sleeper() {
  if (!known_) return;
  const locked lock(sleepers_outside().mutex);
  sleepers_outside().all.remove(*this);
}

inline void outside_sleeper::look() noexcept {
  if (!known_) {
    const locked lock(sleepers_outside().mutex);
    sleepers_outside().all.push(*this);
    known_ = true;
  }
  looks.look();  // which takes the mutex
}

/// While one lives, the calling thread waits outside for a time or a descriptor.
class waits_outside_for_more {
 public:
  waits_outside_for_more() noexcept { sleepers_outside().others.fetch_add(1, std::memory_order_relaxed); }
  ~waits_outside_for_more() { sleepers_outside().others.fetch_sub(1, std::memory_order_relaxed); }
  waits_outside_for_more(const waits_outside_for_more&) = delete;
  waits_outside_for_more& operator=(const waits_outside_for_more&) = delete;
};

}}}  // namespace fj::v0_4::detail
