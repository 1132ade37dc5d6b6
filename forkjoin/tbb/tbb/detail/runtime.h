// Which runtimes these names use: the default one for calls from outside, and one for each arena. What
// tbb::global_control sets of them.
#pragma once

#include "../version.h"

#include <forkjoin/abi/run.hpp>
#include <forkjoin/abi/runtime.hpp>
#include <forkjoin/run.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace tbb { namespace fj_detail {

/// Bytes of stack of a task that no loop and no fork runs: what oneTBB's threads have.
inline constexpr std::size_t usual_task_stack = std::size_t{4} << 20;

class runtimes {
 public:
  static runtimes& all() {
    static auto* const made = new runtimes;  // never deleted, as the default runtime
    return *made;
  }

  /// As tbb::global_control::parameter.
  enum control { most_procs, stack_size, ends_at_exception };

  void hold(control what, std::size_t value) {
    const std::scoped_lock held(mutex_);
    const auto at = held_[what].insert(value);
    try {
      apply(what);
    } catch (...) {
      held_[what].erase(at);
      throw;
    }
  }
  void drop(control what, std::size_t value) {
    const std::scoped_lock held(mutex_);
    held_[what].erase(held_[what].find(value));
    apply(what);
  }

  /// The least or the most of what is held; 0: nothing is.
  std::size_t least(control what) const {
    const std::scoped_lock held(mutex_);
    return held_[what].empty() ? 0 : *held_[what].begin();
  }
  std::size_t most(control what) const {
    const std::scoped_lock held(mutex_);
    return held_[what].empty() ? 0 : *held_[what].rbegin();
  }

  std::size_t task_stack() const noexcept { return task_stack_.load(std::memory_order_relaxed); }
  /// By what is about to throw, or handles what was thrown: ends the process if a global_control says so.
  void may_end_at_exception() noexcept {
    if (!end_at_exception_.load(std::memory_order_relaxed)) return;
    ends_.lock();      // for good: of two threads that end the process one would cut the other's message short
    std::terminate();  // which says what was thrown
  }

  /// One that nothing else uses, until the pointer and its copies are gone. To start threads costs more than to keep
  /// the runtime.
  std::shared_ptr<fj::runtime> take(unsigned procs) {
    std::unique_lock held(mutex_);
    runtimes_of_kind& kind = kinds_[std::pair(procs, task_stack())];
    if (kind.free.empty()) {
      kind.free.reserve(kind.made + 1);  // to give one back cannot fail
      made_.reserve(made_.size() + 1);
      made_.push_back(kind.free.emplace_back(new fj::runtime(fj::options{.procs = procs})));
      ++kind.made;
      use(*made_.back());
    }
    fj::runtime* const one = kind.free.back();
    kind.free.pop_back();
    held.unlock();
    return {one, [this, &kind](fj::runtime* of) {
              const std::scoped_lock again(mutex_);
              kind.free.push_back(of);
            }};
  }

 private:
  struct runtimes_of_kind {
    std::vector<fj::runtime*> free;
    std::size_t made = 0;
  };

  void apply(control what) {
    const std::multiset<std::size_t>& all = held_[what];
    if (what == ends_at_exception) {
      end_at_exception_.store(!all.empty() && *all.rbegin() != 0, std::memory_order_relaxed);
    } else if (what == stack_size) {
      const std::size_t most = all.empty() ? 0 : *all.rbegin();
      task_stack_.store((std::max)(usual_task_stack, most), std::memory_order_relaxed);
      fj::detail::set_least_stack(most);
    } else {
      fj::detail::scheduler& by_default = fj::detail::default_scheduler();
      fj::detail::set_procs(by_default, in_use(fj::detail::procs_of(by_default)));
      for (fj::runtime* const each : made_) use(*each);
    }
  }
  void use(fj::runtime& of) const {
    if (const unsigned wanted = in_use(of.procs()); wanted != of.procs_in_use()) of.set_procs(wanted);
  }
  unsigned in_use(unsigned procs) const {
    const std::multiset<std::size_t>& all = held_[most_procs];
    return all.empty() ? procs : static_cast<unsigned>((std::min)(std::size_t{procs}, *all.begin()));
  }

  mutable std::mutex mutex_;
  std::array<std::multiset<std::size_t>, 3> held_;
  std::atomic<std::size_t> task_stack_{usual_task_stack};
  std::atomic<bool> end_at_exception_{false};
  std::recursive_mutex ends_;
  std::map<std::pair<unsigned, std::size_t>, runtimes_of_kind> kinds_;  // by P, and bytes of stack
  std::vector<fj::runtime*> made_;
};

/// An exception of the names themselves.
template <class Error>
[[noreturn]] void throw_error(Error error) {
  try {
    throw error;
  } catch (...) {
    runtimes::all().may_end_at_exception();
    throw;
  }
}

inline bool is_inside() noexcept { return fj::this_proc() >= 0; }

/// Whether this thread, outside of any runtime, has called one.
inline thread_local bool has_entered = false;

[[noreturn, gnu::cold, gnu::noinline]] inline void called_by_observer() {
  std::fputs(
      "forkjoin: an algorithm, a task_group or an arena was called in on_scheduler_entry or on_scheduler_exit of a "
      "tbb::task_scheduler_observer, which run between strands; call it in a task\n",
      stderr);
  std::abort();
}

/// Calls f inside of a runtime.
template <class F>
decltype(auto) enter(F&& f) {
  if (!is_inside()) {
    has_entered = true;
  } else if (!fj::detail::current_fiber()) [[unlikely]] {
    called_by_observer();
  }
  return fj::run(std::forward<F>(f));
}

inline std::size_t procs() { return fj::procs(); }

}}  // namespace tbb::fj_detail
