// The roots of one runtime that no call waits for, those of fj::go, as far as they take a stop token.
#pragma once

#include <stop_token>
#include <vector>

#include "../base/list.hpp"
#include "../os/mutex.hpp"
#include "../os/thread_safety.hpp"
#include "root.hpp"

namespace fj::inline v0_1::detail {

class loose_roots {
 public:
  void add(root& r) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    roots_.push(r);
  }

  /// Before the root's memory is used for something else.
  void remove(root& r) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    roots_.remove(r);
  }

  /// Asks all to stop.
  void request_stop() FORKJOIN_EXCLUDES(mutex_) {
    std::vector<std::stop_source> sources;
    {
      const locked lock(mutex_);
      for (const root* r = roots_.first(); r; r = roots_.after(*r)) sources.push_back(*r->stop);
    }
    // Without the mutex: what a token calls may end a root.
    for (std::stop_source& each : sources) each.request_stop();
  }

 private:
  os::mutex mutex_;
  linked_list<root, &root::in_loose> roots_ FORKJOIN_GUARDED_BY(mutex_);
};

}  // namespace fj::inline v0_1::detail
