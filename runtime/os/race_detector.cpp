#include "runtime/os/race_detector.hpp"

#if defined(__SANITIZE_THREAD__)
#define FORKJOIN_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FORKJOIN_TSAN 1
#endif
#endif

#ifdef FORKJOIN_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace fj::detail::os {

void publish([[maybe_unused]] const void* what) noexcept {
#ifdef FORKJOIN_TSAN
  __tsan_release(const_cast<void*>(what));
#endif
}

void observe([[maybe_unused]] const void* what) noexcept {
#ifdef FORKJOIN_TSAN
  __tsan_acquire(const_cast<void*>(what));
#endif
}

}  // namespace fj::detail::os
