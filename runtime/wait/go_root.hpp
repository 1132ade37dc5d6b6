// The root of a fiber that fj::go starts.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <source_location>
#include <stop_token>
#include <utility>

#include "../fork/root.hpp"
#include "../os/mutex.hpp"
#include "../os/thread_safety.hpp"
#include "select_protocol.hpp"
#include "wait_queue.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

class task_count;

/// Owned by its fiber, until that has ended, and by its future. The last of the two to let go deletes it.
class go_root : public root {
 public:
  /// `body` runs what was given to go, and keeps its result or calls fail. `takes_stop`: the fiber looks at its stop token.
  go_root(function body, bool takes_stop);
  /// The result is gone already. Its destructor, too, may have made fj::local values, if the fiber itself calls it.
  virtual ~go_root() { destroy_locals(locals); }

  /// Makes the fiber of this root runnable in that runtime, on a stack of at least that many bytes. Throws std::bad_alloc if there is
  /// no stack, std::system_error if the runtime has no thread and the system refuses one, std::logic_error in a process forked
  /// since the runtime was made, std::invalid_argument if no stack can be as large; then the root is as before. `counted`, unless it
  /// is nullptr, counts the fiber until ended_already.
  void start(scheduler& s, std::size_t stack_size, task_count* counted);

  /// Waits until the fiber has ended; then `served`.
  wait_end wait(const wait_limits& limits);

  /// Makes the case of a select that is ready once the fiber has ended.
  void make_case(select_case& c) noexcept;

  /// If the root is one of go.
  static const go_root* of(const root& r) noexcept;

  std::source_location started_at = {};  ///< the call of go, set before start

  /// Whether the fiber has ended; its result is visible then.
  bool ended_already() const noexcept { return ended_.load(std::memory_order_acquire); }

  /// False if the fiber takes no token, or was asked before.
  bool request_stop() noexcept { return stop && stop->request_stop(); }

  /// What the fiber threw, which the caller takes care of from now on; nullptr if it threw nothing.
  std::exception_ptr take_error() noexcept;

  /// By the future, when it is dropped. If what the fiber throws is not taken, the process terminates with its message.
  void drop() noexcept;

 protected:
  /// Called by the body: it ended by an exception.
  void fail(std::exception_ptr error) noexcept { error_ = std::move(error); }
  /// Another future. By an owner.
  void share() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
  /// In place of a fiber's end, by the one who owns what no fiber computes. What went wrong need not be asked for.
  void complete() noexcept;

 private:
  static void end(root& self, worker& m) noexcept;
  void wake_waiters() noexcept;
  void release() noexcept;

  std::optional<std::stop_source> stop_;
  std::exception_ptr error_;
  std::atomic<unsigned> owners_{1};
  std::atomic<bool> ended_{false};
  bool has_fiber_ = true;
  os::mutex mutex_;
  wait_queue waiting_ FORKJOIN_GUARDED_BY(mutex_);
  scheduler* runs_in_ = nullptr;
  task_count* counted_in_ = nullptr;
};

/// Puts the calling strand at the end of the ready queue. Outside of any runtime the thread yields.
void yield_strand() noexcept;

}}}  // namespace fj::v0_2::detail
