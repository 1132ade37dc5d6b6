#pragma once

#include "enumerable_thread_specific.h"

#include <type_traits>
#include <utility>

namespace tbb {

/// A value for each thread, as enumerable_thread_specific.
template <class T>
class combinable {
 public:
  combinable() = default;
  template <class Make>
    requires std::is_invocable_v<Make&>
  explicit combinable(Make make) : values_(std::move(make)) {}

  void clear() { values_.clear(); }
  T& local() { return values_.local(); }
  T& local(bool& exists) { return values_.local(exists); }
  template <class Combine>
  T combine(Combine f) {
    return values_.combine(std::move(f));
  }
  template <class F>
  void combine_each(F f) {
    values_.combine_each(std::move(f));
  }

 private:
  enumerable_thread_specific<T> values_;
};

}  // namespace tbb
