// Which runtimes these names use: the default one for calls from outside, and one for each arena. tbb::global_control limits how many P of
// each are in use.
#pragma once

#include "../version.h"

#include <forkjoin/detail/entry.hpp>
#include <forkjoin/run.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace tbb { namespace fj_detail {

class runtimes {
 public:
  static runtimes& all() {
    static auto* const made = new runtimes;  // never deleted, as the default runtime
    return *made;
  }

  void limit(std::size_t procs) {
    const std::scoped_lock held(mutex_);
    limits_.insert(procs);
    apply();
  }
  void drop_limit(std::size_t procs) {
    const std::scoped_lock held(mutex_);
    limits_.erase(limits_.find(procs));
    apply();
  }

  /// The least of the limits; 0: none.
  std::size_t limit() const {
    const std::scoped_lock held(mutex_);
    return limits_.empty() ? 0 : *limits_.begin();
  }

  /// One that nothing else uses, until the pointer and its copies are gone. To start threads costs more than to keep the runtime.
  std::shared_ptr<fj::runtime> take(unsigned procs) {
    const std::scoped_lock held(mutex_);
    std::vector<fj::runtime*>& free = free_[procs];
    if (free.empty()) {
      free.push_back(new fj::runtime(fj::options{.procs = procs}));
      made_.push_back(free.back());
      use(*made_.back());
    }
    const auto give_back = [this](fj::runtime* of) {
      const std::scoped_lock again(mutex_);
      free_[of->procs()].push_back(of);
    };
    std::shared_ptr<fj::runtime> taken(free.back(), give_back);
    free.pop_back();
    return taken;
  }

 private:
  void apply() {
    fj::detail::scheduler& by_default = fj::detail::default_scheduler();
    fj::detail::set_procs(by_default, in_use(fj::detail::procs_of(by_default)));
    for (fj::runtime* const each : made_) use(*each);
  }
  void use(fj::runtime& of) const {
    if (const unsigned wanted = in_use(of.procs()); wanted != of.procs_in_use()) of.set_procs(wanted);
  }
  unsigned in_use(unsigned procs) const {
    return limits_.empty() ? procs : static_cast<unsigned>(std::min<std::size_t>(procs, *limits_.begin()));
  }

  mutable std::mutex mutex_;
  std::multiset<std::size_t> limits_;
  std::map<unsigned, std::vector<fj::runtime*>> free_;
  std::vector<fj::runtime*> made_;
};

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

/// Bytes of stack of a task that no loop and no fork runs: what oneTBB's threads have.
inline constexpr std::size_t task_stack = std::size_t{4} << 20;

}}  // namespace tbb::fj_detail

namespace oneapi {
namespace tbb = ::tbb;
}
