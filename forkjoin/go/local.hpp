// Values that each fiber has for itself.
#pragma once

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/go.hpp"
#else

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/entry.hpp"

namespace fj::inline v0_1 {

/// A value for each fiber of fj::go and each call of fj::run, for what thread_local cannot be: strands change threads. All
/// strands that such a fiber forks see the one value, as they would in the serial program; it is up to them not to race for
/// it. Outside of any runtime each thread has a value. A value is made at the first access and destroyed when its fiber ends.
template <class T>
class local {
 public:
  local()
    requires std::is_default_constructible_v<T>
      : make_([] { return T(); }) {}
  /// Values are what make() returns.
  explicit local(std::function<T()> make) : make_(std::move(make)) {}
  local(const local&) = delete;
  local& operator=(const local&) = delete;

  T& operator*() { return get(); }
  T* operator->() { return &get(); }

  /// Throws what making the value throws, and std::bad_alloc. Cost: a walk over the values that the fiber has.
  T& get() {
    if (detail::local_value* const there = detail::find_local(key_)) return static_cast<holder*>(there)->value;
    auto* const made = new holder(key_, make_);
    detail::local_value& kept = detail::keep_local(*made);
    if (&kept != made) delete made;
    return static_cast<holder&>(kept).value;
  }

 private:
  struct holder : detail::local_value {
    holder(std::uint64_t key, const std::function<T()>& make)
        : local_value{key, [](local_value& self) noexcept { delete static_cast<holder*>(&self); }}, value(make()) {}
    T value;
  };

  const std::uint64_t key_ = detail::new_local_key();
  const std::function<T()> make_;
};

}  // namespace fj::inline v0_1

#endif
