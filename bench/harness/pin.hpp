// A thread on a processor of its own, for measurements of what two do at once.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <cstddef>

namespace bench {

// Pins the calling thread to the nth processor that it may use, for the life of this object. If the system does not
// allow that, the thread stays where the system puts it.
class pinned {
 public:
  explicit pinned(std::size_t nth) {
    if (sched_getaffinity(0, sizeof allowed_, &allowed_) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed_) || nth-- > 0) continue;
      cpu_set_t own;
      CPU_ZERO(&own);
      CPU_SET(cpu, &own);
      changed_ = pthread_setaffinity_np(pthread_self(), sizeof own, &own) == 0;
      return;
    }
  }
  ~pinned() {
    if (changed_) pthread_setaffinity_np(pthread_self(), sizeof allowed_, &allowed_);
  }
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;

 private:
  cpu_set_t allowed_;
  bool changed_ = false;
};

}  // namespace bench
