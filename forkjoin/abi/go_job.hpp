// What a fiber of fj::go and its future share.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <source_location>
#include <stop_token>
#include <utility>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "forkjoin/abi/run.hpp"
#include "forkjoin/abi/select.hpp"
#include "forkjoin/abi/wait_queue.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct job_of_go;
class task_count;

/// Owned by its fiber, until that has ended, by its future and by cases of selects. The last to let go deletes it.
class go_job : public job_body {
 public:
  /// `body` runs what was given to go, and keeps its result or calls fail. `takes_stop`: the fiber looks at its stop
  /// token.
  go_job(function body, bool takes_stop);
  /// The result is gone already. Its destructor, too, may have made fj::local values, if the fiber itself calls it.
  // Inline, as every virtual function: g++ and clang export the table of a class differently if one is not.
  virtual ~go_job() { destroy_job(); }
  go_job(const go_job&) = delete;
  go_job& operator=(const go_job&) = delete;

  /// Makes the fiber of this job runnable in that runtime, on a stack of at least that many bytes. Throws
  /// std::bad_alloc if there is no stack, std::system_error if the runtime has no thread and the system refuses one,
  /// std::logic_error in a process forked since the runtime was made, std::invalid_argument if no stack can be as
  /// large; then the job is as before. `counted`, unless it is nullptr, counts the fiber until ended_already.
  void start(scheduler& s, std::size_t stack_size, task_count* counted);

  /// Waits until the fiber has ended; then `served`.
  wait_end wait(const wait_limits& limits);

  /// Makes the case of a select that is ready once the fiber has ended.
  void make_case(select_case& c) noexcept;

  std::source_location started_at = {};  ///< the call of go, set before start
  bool urgent = false;                   ///< of go_options, likewise

  /// Whether the fiber has ended; its result is visible then.
  // acquire: pairs with the release in runtime/wait/job_of_go.cpp: wake_waiters
  bool ended_already() const noexcept { return ended_.load(std::memory_order_acquire); }

  /// False if the fiber takes no token, or was asked before.
  bool request_stop() noexcept { return stop_ && stop_->request_stop(); }

  /// What the fiber threw, which the caller takes care of from now on; nullptr if it threw nothing.
  std::exception_ptr take_error() noexcept;

  /// Another future, or a case of a select. By an owner.
  void share() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }

  /// By one of these, or the future, when it is dropped. If what the fiber throws is not taken, the process terminates
  /// with its message.
  void drop() noexcept { release(); }

 protected:
  /// Of a fiber that takes one.
  std::stop_token token() const noexcept { return stop_->get_token(); }
  /// Called by the body: it ended by an exception.
  void fail(std::exception_ptr error) noexcept { error_ = std::move(error); }
  /// In place of a fiber's end, by the promise of a job that has no fiber. What went wrong need not be asked for.
  void complete() noexcept;

 private:
  friend struct job_of_go;

  void destroy_job() noexcept;
  void wake_waiters() noexcept;
  void release() noexcept;

  std::optional<std::stop_source> stop_;
  std::exception_ptr error_;
  std::atomic<unsigned> owners_{1};
  std::atomic<bool> ended_{false};
  bool has_fiber_ = true;
  os::mutex mutex_;
  wait_queue waiting_ FORKJOIN_GUARDED_BY(mutex_);
  // The library's: runtime/wait/job_of_go.hpp.
  alignas(8) std::byte job_[320];
};

/// Puts the calling strand at the end of the ready queue. Outside of any runtime the thread yields.
void yield_strand() noexcept;

}}}  // namespace fj::v0_4::detail
