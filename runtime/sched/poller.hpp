// The poller of one runtime: it reports what happens to the descriptors that the runtime's strands wait for.
//
// Workers look at it between fibers and before they steal; the timekeeper (sched/timekeeper.hpp) sleeps in it. Each
// runtime has one, because each runtime makes sure that one of its own workers looks into the poller while its strands
// wait.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/io/event_poll.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/sched/poll_entry.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Opens its descriptors when it watches for the first time. Entries that it watches share its object, but not its
/// descriptors, which end with the runtime.
class poller {
 public:
  poller() noexcept = default;
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;

  // Strands.

  /// 0, or the errno of what failed.
  [[nodiscard]] int open() noexcept FORKJOIN_EXCLUDES(mutex_);
  /// From now on what happens to the descriptor is told to that life of the entry. 0, or the errno of what failed.
  [[nodiscard]] int watch(int descriptor, poll_entry& e, poll_entry::life of) noexcept;
  /// Before each wait for it.
  void ask(int descriptor, io_way way) noexcept { events_.ask(descriptor, way == io_way::writing); }
  /// No longer, by any thread, before the descriptor is closed.
  void unwatch(int descriptor) noexcept FORKJOIN_EXCLUDES(mutex_);

  /// As long as a strand waits. seq_cst: a in timekeeper.hpp; pairs with the load in awaited, by which a worker that
  /// parks asks whether a strand waits (2 and 4 there)
  void begin_wait() noexcept { waits_.fetch_add(1, std::memory_order_seq_cst); }
  void end_wait() noexcept { waits_.fetch_sub(1, std::memory_order_seq_cst); }

  // Workers, and what else looks.

  // seq_cst: see begin_wait
  bool awaited() const noexcept { return waits_.load(std::memory_order_seq_cst) > 0; }
  // acquire: pairs with the release in poller.cpp: open
  bool is_open() const noexcept { return is_open_.load(std::memory_order_acquire); }

  /// Wakes the strands that wait for what has happened; true if there are such. At once without if no strand waits, or
  /// if another thread looks or sleeps here. On any thread.
  bool poll() noexcept;

  /// Whether strands wait and no thread has looked for as long as the monitor lets be: all workers compute.
  bool is_overdue(std::int64_t now) const noexcept {
    return awaited() && now - looked_at_.load(std::memory_order_relaxed) >= tuning::poll_delay_ns;
  }

  /// Until something happens, an interrupt, or the time `until` of os::now_ns; may return early. The caller wakes what
  /// it claims. One at a time.
  void sleep(claimed_polls& woken, std::int64_t until) noexcept;
  /// Ends the present sleep, or the next one.
  void interrupt() noexcept { events_.interrupt(); }

  // The monitor.

  /// Until a poll would find something (true), until end_await, or the time `until` of os::now_ns. Beside a sleep.
  bool await(std::int64_t until) noexcept { return events_.await(until); }
  /// Ends the present await, or the next one.
  void end_await() noexcept { events_.end_await(); }

  /// The runtime ends: no strand waits, no worker looks.
  void close() noexcept FORKJOIN_EXCLUDES(mutex_);

 private:
  os::event_poll events_;
  std::atomic<bool> is_open_{false};
  std::atomic<bool> sleeps_{false}, looks_{false};  // hints: that a worker sleeps here, or looks
  std::atomic<std::int64_t> looked_at_{0};          // a hint: by os::now_ns
  std::atomic<std::uint32_t> waits_{0};
  os::mutex mutex_;         // of open, unwatch and close
  unsigned opened_in_ = 0;  // process_generation
};

}}}  // namespace fj::v0_4::detail
