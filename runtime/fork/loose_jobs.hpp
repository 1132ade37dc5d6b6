// The jobs of fj::go in one runtime that take a stop token. No call waits for these jobs.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>

#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/fork/job.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class loose_jobs {
 public:
  /// False once request_stop has been called: then the caller asks this job itself, before it begins.
  [[nodiscard]] bool add(job& r) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    jobs_.push(r);
    return !all_are_asked_;
  }

  /// Before the job's memory is used for something else.
  void remove(job& r) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    jobs_.remove(r);
  }

  /// Asks all to stop that are here, and from now on those that come. Allocates nothing.
  void request_stop() noexcept FORKJOIN_EXCLUDES(mutex_) {
    for (std::size_t left = count_and_ask_later_ones(); left > 0; --left) {
      std::optional<std::stop_source> source;
      {
        const locked lock(mutex_);
        job* const r = jobs_.first();
        if (!r) return;
        // To the end: before it come those that have not been asked yet, also if some end meanwhile.
        jobs_.remove(*r);
        jobs_.push(*r);
        source = *r->stop;
      }
      source->request_stop();  // without the mutex: what a token calls may end a job
    }
  }

 private:
  std::size_t count_and_ask_later_ones() noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    all_are_asked_ = true;
    std::size_t n = 0;
    for (const job* r = jobs_.first(); r; r = jobs_.after(*r)) ++n;
    return n;
  }

  os::mutex mutex_;
  bool all_are_asked_ FORKJOIN_GUARDED_BY(mutex_) = false;
  linked_list<job, &job::in_loose> jobs_ FORKJOIN_GUARDED_BY(mutex_);
};

}}}  // namespace fj::v0_4::detail
