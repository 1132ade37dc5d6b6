// Annotations that say which mutex guards what. clang's thread-safety analysis checks them; other compilers ignore
// them.
#pragma once

#ifdef __clang__
#define FORKJOIN_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define FORKJOIN_THREAD_SAFETY(attribute)
#endif

/// On a class: it is a mutex.
#define FORKJOIN_MUTEX FORKJOIN_THREAD_SAFETY(capability("mutex"))
/// On a member: it is read and written under that mutex only.
#define FORKJOIN_GUARDED_BY(mutex) FORKJOIN_THREAD_SAFETY(guarded_by(mutex))
/// On a function: its caller holds the mutex.
#define FORKJOIN_REQUIRES(...) FORKJOIN_THREAD_SAFETY(requires_capability(__VA_ARGS__))
/// On a function: its caller does not hold the mutex; it may take it.
#define FORKJOIN_EXCLUDES(...) FORKJOIN_THREAD_SAFETY(locks_excluded(__VA_ARGS__))
/// On a function: it takes the mutex, gives it back, or tries to take it and says so by this result.
#define FORKJOIN_ACQUIRES(...) FORKJOIN_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define FORKJOIN_RELEASES(...) FORKJOIN_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define FORKJOIN_TRIES(result) FORKJOIN_THREAD_SAFETY(try_acquire_capability(result))

/// On a function whose locks depend on something that the analysis cannot see. The function's comment says on what.
#define FORKJOIN_UNANALYSED FORKJOIN_THREAD_SAFETY(no_thread_safety_analysis)

namespace fj { inline namespace v0_4 { namespace detail {

/// As std::scoped_lock of one mutex, which the analysis does not know.
template <class Mutex>
class FORKJOIN_THREAD_SAFETY(scoped_lockable) locked {
 public:
  explicit locked(Mutex& mutex) noexcept(noexcept(mutex.lock())) FORKJOIN_ACQUIRES(mutex) : mutex_(mutex) {
    mutex.lock();
  }
  ~locked() FORKJOIN_RELEASES() { mutex_.unlock(); }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

 private:
  Mutex& mutex_;
};

}}}  // namespace fj::v0_4::detail
