// The common part of the tests: the numbers of processors to try, less work under checkers, and a watchdog, so that a
// test that hangs says so.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>

#include "forkjoin/forkjoin.hpp"
#include "runtime/environment.hpp"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

namespace test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool races_are_checked = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool races_are_checked = true;
#else
inline constexpr bool races_are_checked = false;
#endif
#else
inline constexpr bool races_are_checked = false;
#endif

/// The numbers of P that every test tries. Tests of greed leave out the first: with one P no worker can steal.
inline constexpr unsigned procs_to_try[] = {1, 2, 3, 8, 64};

template <class Body>
void for_each_procs(Body body, unsigned least = 1) {
  for (const unsigned p : procs_to_try)
    if (p >= least) body(p);
}

// Every order with every join.
using first_leave = fj::continuations;
using first_top = fj::policy<fj::first_child_first, fj::run_on_top>;
using first_leap = fj::policy<fj::first_child_first, fj::leapfrog>;
using last_leave = fj::policy<fj::last_child_first, fj::leave_stack>;
using last_top = fj::tasks;
using last_leap = fj::policy<fj::last_child_first, fj::leapfrog>;

/// For TEST_CASE_TEMPLATE. TEST_SOME_POLICIES comes from Meson's option `policies`: half as much is compiled.
#ifdef TEST_SOME_POLICIES
#define ALL_POLICIES test::first_leave, test::first_leap, test::last_top
#else
#define ALL_POLICIES \
  test::first_leave, test::first_top, test::first_leap, test::last_leave, test::last_top, test::last_leap
#endif

template <class Body>
void for_each_policy(Body body) {
  const auto call_with_each = [&body]<class... Policies>(std::type_identity<std::tuple<Policies...>>) {
    (body(Policies()), ...);
  };
  call_with_each(std::type_identity<std::tuple<ALL_POLICIES>>());
}

template <class Policy>
inline constexpr bool runs_first_child = std::is_same_v<typename Policy::order, fj::first_child_first>;

/// By how much a slow build or machine divides the work of a test: FORKJOIN_TEST_DIVISOR.
inline unsigned divisor() {
  const char* const text = std::getenv("FORKJOIN_TEST_DIVISOR");
  const int value = text ? std::atoi(text) : 1;
  return value > 1 ? static_cast<unsigned>(value) : 1;
}

/// `n` divided by it, at least 1.
template <class Number>
Number divided(Number n) {
  const auto less = static_cast<Number>(n / divisor());
  return less > 0 ? less : 1;
}

/// Whether a thread of a runtime with the usual options can fence others, by membarrier or by signal. If not,
/// everything is public, and tests of private records are skipped.
inline bool may_fence_others() {
  static const bool may = !fj::detail::resolve({}).eager;
  return may;
}

/// Ends the process with a message if it lives longer than that. Times are for a release build on a machine that is
/// mostly idle; other builds get more.
class watchdog {
 public:
  watchdog(const char* what, unsigned procs, unsigned seconds = 60)
      : watcher_([this, what, procs, seconds] {
          std::unique_lock lock(mutex_);
          if (ended_.wait_for(lock, std::chrono::seconds(seconds) * patience(), [this] { return over_; })) return;
          std::fprintf(stderr, "watchdog: \"%s\" with P = %u hangs\n", what, procs);
          std::fflush(stderr);
          std::_Exit(1);
        }) {}

  ~watchdog() {
    {
      std::scoped_lock lock(mutex_);
      over_ = true;
    }
    ended_.notify_one();
    watcher_.join();
  }

  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

 private:
  static int patience() {
    double load = 0;
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    if (getloadavg(&load, 1) != 1) load = 0;
    const int crowd = std::clamp(static_cast<int>(load) / static_cast<int>(cores), 1, 10);
    return crowd * (RUNNING_ON_VALGRIND ? 20 : sanitized ? 5 : 1);
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread watcher_;  // last, because it uses the other members
};

/// Sets an environment variable while it lives. No other thread may read the environment meanwhile.
class environment {
 public:
  environment(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    value ? setenv(name, value, 1) : unsetenv(name);
  }

  ~environment() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

inline fj::options with_procs(unsigned p) {
  fj::options chosen;
  chosen.procs = p;
  return chosen;
}

/// Why forks are stolen.
enum class stealing {
  by_need,     ///< because a worker has no work, as in every program
  every_fork,  ///< options::steal_every_fork
  all_public,  ///< no heavy fence: each record is public at once
  by_signal,   ///< by need, without membarrier
};

inline std::string name_of(stealing how) {
  return how == stealing::by_need      ? "by need"
         : how == stealing::every_fork ? "every fork"
         : how == stealing::all_public ? "all public"
                                       : "by signal";
}

/// The variables that runtimes need for that, while it lives. By need, those that are there count.
class fences {
 public:
  explicit fences(stealing how) {
    if (how == stealing::all_public || how == stealing::by_signal) membarrier_.emplace("FORKJOIN_MEMBARRIER", "0");
    if (how == stealing::all_public) signal_.emplace("FORKJOIN_FENCE_SIGNAL", "0");
  }

 private:
  std::optional<environment> membarrier_, signal_;
};

inline fj::options with(unsigned p, stealing how) {
  fj::options chosen = with_procs(p);
  chosen.steal_every_fork = how == stealing::every_fork;
  return chosen;
}

/// Calls body(runtime, p, how) for every number of P and every way to steal.
template <class Body>
void for_each_runtime(const char* what, Body body, unsigned least = 1) {
  for (const stealing how : {stealing::by_need, stealing::every_fork, stealing::all_public, stealing::by_signal}) {
    const fences set(how);
    for_each_procs(
        [&](unsigned p) {
          const watchdog dog(what, p);
          fj::runtime rt(with(p, how));
          body(rt, p, how);
        },
        least);
  }
}

/// Spins until `condition()` holds. Yields to other threads, because there may be more threads than cores.
template <class Condition>
void spin_until(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

/// Splittable random numbers (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): a
/// branch's numbers depend on its place in the tree, not on the strand that runs it.
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  unsigned below(unsigned n) { return static_cast<unsigned>(next() % n); }
  bool once_in(unsigned n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace test
