// The entries of the ready queue.
#pragma once

#include <cstddef>

#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/relaxed.hpp"
#include "forkjoin/abi/timer.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A fiber that may go on, or a job that no fiber has begun, or the marker of a fiber that waits and left records in
/// its deque: to run a marker is to run the oldest of these records. Each is an entry of two lists, of all jobs and of
/// its own job, so that a thread that works for one job finds it without a search.
struct runnable {
  enum class kind : unsigned char { fiber, job, marker };

  explicit runnable(kind what) noexcept : is(what) {}

  // Under the dispatcher's mutex.
  list_links<runnable> in_all, in_job;
  const kind is;
  precedence its = precedence::in_order;  ///< of a fiber or a job
};

/// Strands, that is fibers and jobs, those that go on soon, urgent ones, and markers apart, each in the order in which
/// they were pushed.
template <auto Links>
class runnable_lists {
 public:
  using list = linked_list<runnable, Links>;

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// Outside of the mutex a hint.
  std::size_t count() const noexcept { return count_; }
  const list& strands() const noexcept { return strands_; }
  const list& soon() const noexcept { return soon_; }
  const list& urgent() const noexcept { return urgent_; }
  const list& markers() const noexcept { return markers_; }

  /// Whether anything was ever pushed.
  bool used() const noexcept { return used_; }

  void push(runnable& item) noexcept {
    used_ = true;
    count_ = count_ + 1;
    of(item).push(item);
  }
  /// Before all that are in the same list.
  void push_front(runnable& item) noexcept {
    used_ = true;
    count_ = count_ + 1;
    of(item).push_front(item);
  }
  void remove(runnable& item) noexcept {
    count_ = count_ - 1;
    of(item).remove(item);
  }

 private:
  list& of(const runnable& item) noexcept {
    if (item.is == runnable::kind::marker) return markers_;
    return item.its == precedence::urgent ? urgent_ : item.its == precedence::soon ? soon_ : strands_;
  }

  list strands_, soon_, urgent_, markers_;
  relaxed<std::size_t> count_ = 0;
  relaxed<bool> used_ = false;
};

using all_runnables = runnable_lists<&runnable::in_all>;
using job_runnables = runnable_lists<&runnable::in_job>;

}}}  // namespace fj::v0_4::detail
