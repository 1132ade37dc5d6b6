// Relacy without the macros of its front door: relacy/relacy.hpp turns std::memory_order_relaxed, new, delete, assert
// and more into its own, which the runtime's headers would not survive.
#pragma once

#include <relacy/base.hpp>
#include <relacy/context.hpp>

#include <relacy/atomic.hpp>
#include <relacy/atomic_fence.hpp>
#include <relacy/backoff.hpp>
#include <relacy/context_base_impl.hpp>
#include <relacy/stdlib/condition_variable.hpp>
#include <relacy/stdlib/event.hpp>
#include <relacy/stdlib/mutex.hpp>
#include <relacy/stdlib/semaphore.hpp>
#include <relacy/test_suite.hpp>
#include <relacy/thread_local.hpp>
#include <relacy/var.hpp>
#undef $

#include <source_location>

namespace model {

inline constexpr unsigned threads = 3;

using place = std::source_location;

inline rl::debug_info debug(const place& at) { return {at.function_name(), at.file_name(), at.line()}; }

/// Ends the run with the name of the property that does not hold.
inline void check(bool holds, const char* property, const place& at = place::current()) {
  if (!holds) rl::ctx().fail_test(property, rl::test_result_user_assert_failed, debug(at));
}

/// One of 0 ... limit - 1, every one to be tried.
inline unsigned any_of(unsigned limit) { return rl::rand(limit); }

/// A value on its way into a plain variable, and where that happens.
template <class T>
struct placed {
  placed(T v, place p = place::current()) : value(v), at(p) {}
  T value;
  place at;
};

/// A plain variable: unordered accesses to it are reported.
template <class T>
class plain {
 public:
  plain() = default;
  explicit plain(T value) : value_(value) {}
  plain& operator=(placed<T> to) {
    value_(debug(to.at)).store(to.value);
    return *this;
  }
  operator T() const { return get(); }
  T get(place at = place::current()) const { return value_(debug(at)).load(); }

 private:
  rl::var<T> value_;
};

}  // namespace model
