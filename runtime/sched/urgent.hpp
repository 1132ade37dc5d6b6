// How much of a runtime is for urgent fibers (fj::go_options::urgent).
//
// An urgent fiber that becomes ready goes before all others (queues.hpp), and its waker asks a P to give way to it
// (dispatcher.hpp: ready_urgent). So that the others go on, too:
//
// 1. At most half of the Ps in use, and at least one, serve urgent fibers at a time: urgent_places.
// 2. Each P serves them for at most half of its time, and for no longer than a slice at once: urgent_time. By 1 alone
//    one P could serve nothing else, and on a P that serves them what is in its own queue would wait.
//
// An urgent fiber beyond these bounds goes after all others. A P serves an urgent fiber from when it takes that fiber
// before others until the fiber leaves its stack, or loses the P in a blocking call.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/relaxed.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Of one P: the time that it gave to urgent fibers, less the time that it has given to others since. Times are
/// os::rough_ns. Written by the worker that holds the P, or by the monitor when it takes the P from a blocking call;
/// read by any thread as a hint.
class urgent_time {
 public:
  /// Whether the P serves an urgent fiber.
  bool runs() const noexcept { return runs_; }
  /// Whether it may serve the next one.
  bool any_left(std::uint64_t now) const noexcept { return owed(now) < tuning::slice_ns; }

  void begin(std::uint64_t now) noexcept {
    owed_ = owed(now);
    since_ = now;
    runs_ = true;
  }
  void end(std::uint64_t now) noexcept {
    owed_ = owed_ + time_since(now);
    since_ = now;
    runs_ = false;
  }

 private:
  // Counters of two CPUs may differ by a little.
  std::int64_t time_since(std::uint64_t now) const noexcept {
    const auto time = static_cast<std::int64_t>(now - since_);
    return time > 0 ? time : 0;
  }
  std::int64_t owed(std::uint64_t now) const noexcept {
    const std::int64_t left = owed_ - time_since(now);
    return left > 0 ? left : 0;
  }

  relaxed<bool> runs_ = false;
  relaxed<std::int64_t> owed_ = 0;    // to the others, at `since_`
  relaxed<std::uint64_t> since_ = 0;  // when the P began or ended to serve
};

/// How many Ps serve urgent fibers. Changed under the dispatcher's mutex.
class urgent_places {
 public:
  /// Whether one more may, of so many that are in use. Without the mutex a hint.
  bool any_left(unsigned procs) const noexcept {
    return taken_.load(std::memory_order_relaxed) < (procs < 2 ? 1 : procs / 2);
  }

  void take(auto& p) noexcept {
    taken_.fetch_add(1, std::memory_order_relaxed);
    p.urgent.begin(os::rough_ns());
  }
  /// If the P serves one.
  void give_back(auto& p) noexcept {
    if (!p.urgent.runs()) return;
    p.urgent.end(os::rough_ns());
    taken_.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  os::atomic<unsigned> taken_{0};
};

}}}  // namespace fj::v0_4::detail
