// A mutex that readers share.
#pragma once

#include <cstdint>
#include <source_location>

#include "../os/mutex.hpp"
#include "../os/thread_safety.hpp"
#include "wait_queue.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Readers together, writers alone, in the order in which they came.
class shared_mutex_core {
 public:
  bool try_lock(bool writes) noexcept;
  /// `served`: the caller has the mutex.
  wait_end lock(bool writes, const wait_limits& limits);
  /// `call` and `at`: for the message, if the mutex is not locked that way.
  void unlock(bool writes, const char* call, std::source_location at) noexcept;

 private:
  bool take(bool writes) noexcept FORKJOIN_REQUIRES(guard_);
  void admit(claimed_waits& woken) noexcept FORKJOIN_REQUIRES(guard_);

  os::mutex guard_;
  std::uint64_t readers_ FORKJOIN_GUARDED_BY(guard_) = 0;
  bool writer_ FORKJOIN_GUARDED_BY(guard_) = false;
  wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);  // an entry's number says whether it writes
};

}}}  // namespace fj::v0_2::detail
