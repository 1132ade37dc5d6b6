// Where calls from outside of any runtime go: the default runtime, or one with as many P as tbb::global_control allows.
#pragma once

#include "../version.h"

#include <forkjoin/run.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace tbb { namespace fj_detail {

class controlled_runtimes {
 public:
  static controlled_runtimes& all() {
    static auto* const made = new controlled_runtimes;  // never deleted, as the default runtime
    return *made;
  }

  void limit(std::size_t procs) {
    const std::scoped_lock held(mutex_);
    limits_.insert(procs);
  }
  void drop_limit(std::size_t procs) {
    const std::scoped_lock held(mutex_);
    limits_.erase(limits_.find(procs));
  }

  /// The least of the limits; 0: none.
  std::size_t limit() const {
    const std::scoped_lock held(mutex_);
    return limits_.empty() ? 0 : *limits_.begin();
  }

  /// nullptr: the default one.
  fj::runtime* now() {
    const std::scoped_lock held(mutex_);
    return limits_.empty() ? nullptr : &with(*limits_.begin());
  }

  fj::runtime& of(std::size_t procs) {
    const std::scoped_lock held(mutex_);
    return with(procs);
  }

 private:
  fj::runtime& with(std::size_t procs) {
    std::unique_ptr<fj::runtime>& kept = runtimes_[procs];
    if (!kept) kept = std::make_unique<fj::runtime>(fj::options{.procs = static_cast<unsigned>(procs)});
    return *kept;
  }

  mutable std::mutex mutex_;
  std::multiset<std::size_t> limits_;
  std::map<std::size_t, std::unique_ptr<fj::runtime>> runtimes_;
};

inline bool is_inside() noexcept { return fj::this_proc() >= 0; }

/// Calls f inside of a runtime.
template <class F>
decltype(auto) enter(F&& f) {
  if (!is_inside())
    if (fj::runtime* const controlled = controlled_runtimes::all().now()) return controlled->run(std::forward<F>(f));
  return fj::run(std::forward<F>(f));
}

inline std::size_t procs() {
  if (is_inside()) return fj::procs();
  const std::size_t limit = controlled_runtimes::all().limit();
  return limit != 0 ? limit : fj::procs();
}

}}  // namespace tbb::fj_detail

namespace oneapi {
namespace tbb = ::tbb;
}
