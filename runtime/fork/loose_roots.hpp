// The roots of fj::go in one runtime that take a stop token. No call waits for these roots.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>

#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/fork/root.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

class loose_roots {
 public:
  /// False once request_stop has been called: then the caller asks this root itself, before it begins.
  [[nodiscard]] bool add(root& r) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    roots_.push(r);
    return !all_are_asked_;
  }

  /// Before the root's memory is used for something else.
  void remove(root& r) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    roots_.remove(r);
  }

  /// Asks all to stop that are here, and from now on those that come. Allocates nothing.
  void request_stop() noexcept FORKJOIN_EXCLUDES(mutex_) {
    for (std::size_t left = count_and_ask_later_ones(); left > 0; --left) {
      std::optional<std::stop_source> source;
      {
        const locked lock(mutex_);
        root* const r = roots_.first();
        if (!r) return;
        // To the end: before it come those that have not been asked yet, also if some end meanwhile.
        roots_.remove(*r);
        roots_.push(*r);
        source = *r->stop;
      }
      source->request_stop();  // without the mutex: what a token calls may end a root
    }
  }

 private:
  std::size_t count_and_ask_later_ones() noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    all_are_asked_ = true;
    std::size_t n = 0;
    for (const root* r = roots_.first(); r; r = roots_.after(*r)) ++n;
    return n;
  }

  os::mutex mutex_;
  bool all_are_asked_ FORKJOIN_GUARDED_BY(mutex_) = false;
  linked_list<root, &root::in_loose> roots_ FORKJOIN_GUARDED_BY(mutex_);
};

}}}  // namespace fj::v0_2::detail
