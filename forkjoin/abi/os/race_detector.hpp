// Tells ThreadSanitizer what it cannot see by itself. In other builds these functions do nothing.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define FORKJOIN_RACE_DETECTOR
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FORKJOIN_RACE_DETECTOR
#endif
#endif
#ifdef FORKJOIN_RACE_DETECTOR
#include <sanitizer/tsan_interface.h>
// Its dynamic annotations, which that header leaves out.
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
}
#endif

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

#ifdef FORKJOIN_RACE_DETECTOR
inline constexpr bool races_are_detected = true;
#else
inline constexpr bool races_are_detected = false;
#endif

/// Orders what the calling strand did so far before what follows a `happens_after` of the same address. Used for
/// objects that strands reach by way of the worker they run on: a strand that is resumed on a worker, or uses its
/// deque, comes after the making of both; a strand on a stack comes after those that had it before; the end of a
/// runtime comes after all its strands. ThreadSanitizer is told that a switch of stacks orders nothing, or it would
/// hide the races of users.
inline void happens_before([[maybe_unused]] const void* what) noexcept {
#ifdef FORKJOIN_RACE_DETECTOR
  __tsan_release(const_cast<void*>(what));
#endif
}
inline void happens_after([[maybe_unused]] const void* what) noexcept {
#ifdef FORKJOIN_RACE_DETECTOR
  __tsan_acquire(const_cast<void*>(what));
#endif
}

/// While it lives, the reads and writes of the calling strand race with none. For what a thief does in the frame of a
/// parent, and for what a child does before the parent's continuation can be stolen: the parent goes on afterwards.
/// happens_before and happens_after would order what users did before, too.
class unseen_by_detector {
 public:
  unseen_by_detector() noexcept {
#ifdef FORKJOIN_RACE_DETECTOR
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
  }
  ~unseen_by_detector() {
#ifdef FORKJOIN_RACE_DETECTOR
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
  }
  unseen_by_detector(const unseen_by_detector&) = delete;
  unseen_by_detector& operator=(const unseen_by_detector&) = delete;
};

/// While it lives, no atomic access of the calling strand orders anything. For hints, which the strand only compares.
class unordered_for_detector {
 public:
  unordered_for_detector() noexcept {
#ifdef FORKJOIN_RACE_DETECTOR
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
#endif
  }
  ~unordered_for_detector() {
#ifdef FORKJOIN_RACE_DETECTOR
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
#endif
  }
  unordered_for_detector(const unordered_for_detector&) = delete;
  unordered_for_detector& operator=(const unordered_for_detector&) = delete;
};

}}}}  // namespace fj::v0_4::detail::os
