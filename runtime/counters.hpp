// What a runtime counts. Nothing on a fork's fast path.
#pragma once

#include <atomic>
#include <cstdint>

namespace fj {

/// Counters of one P or of several together. They only grow, and are read at any time; the values of one reading need
/// not be of one moment.
struct counters {
  std::uint64_t steals = 0;        ///< records taken from another strand's deque
  std::uint64_t suspensions = 0;   ///< joins that left their stack, or were about to when the thief arrived
  std::uint64_t resumptions = 0;   ///< suspended fibers that went on
  std::uint64_t join_waits = 0;    ///< joins of tasks that found the child stolen and not finished
  std::uint64_t exposures = 0;     ///< deques whose private records a thief made public by force
  std::uint64_t publications = 0;  ///< times that an owner made private records public
  std::uint64_t slow_pushes = 0;   ///< pushes that found the limit reached or lowered
  std::uint64_t slow_pops = 0;     ///< pops that found their record public
  std::uint64_t parks = 0;         ///< times a worker gave up its P for want of work
  std::uint64_t wakeups = 0;       ///< workers woken or started

  counters& operator+=(const counters& other) noexcept {
    steals += other.steals;
    suspensions += other.suspensions;
    resumptions += other.resumptions;
    join_waits += other.join_waits;
    exposures += other.exposures;
    publications += other.publications;
    slow_pushes += other.slow_pushes;
    slow_pops += other.slow_pops;
    parks += other.parks;
    wakeups += other.wakeups;
    return *this;
  }
};

namespace detail {

/// A counter that one thread at a time writes and any thread reads.
class tally {
 public:
  void operator++() noexcept { value_.store(read() + 1, std::memory_order_relaxed); }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// The counters of one P, written by the worker that holds it.
struct tallies {
  tally steals, suspensions, resumptions, join_waits, exposures, publications, slow_pushes, slow_pops, parks, wakeups;

  counters read() const noexcept {
    return {steals.read(),       suspensions.read(), resumptions.read(), join_waits.read(), exposures.read(),
            publications.read(), slow_pushes.read(), slow_pops.read(),   parks.read(),      wakeups.read()};
  }
};

}  // namespace detail
}  // namespace fj
