// Values of which each fiber has its own.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/local.hpp"
#include "forkjoin/abi/maybe_yield.hpp"

namespace fj { inline namespace v0_4 {

/// A value for each fiber of fj::go and each call of fj::run from outside a runtime. It replaces thread_local, which
/// does not work for strands, because they change threads. All strands that such a fiber forks see the same value, as
/// they would in the serial program; the program must see to it that they do not race. Outside any runtime each thread
/// has a value. The first access makes the value; the end of its fiber, or of its thread, destroys it; the end of this
/// object destroys none. A destructor of a thread_local object, or of such a value, may make a new one, which is
/// destroyed after it.
template <class T>
class local {
 public:
  local()
    requires std::is_default_constructible_v<T>
      : make_([] { return T(); }) {}
  /// Values are what make() returns, which several threads may call at once, and which must not ask this object for its
  /// value.
  explicit local(std::function<T()> make) : make_(std::move(make)) {}
  local(const local&) = delete;
  local& operator=(const local&) = delete;

  T& operator*() { return get(); }
  T* operator->() { return &get(); }

  /// Throws what making the value throws, and std::bad_alloc. Cost: a linear search in the values that the fiber has.
  /// If strands of one fiber make its value at once, all get the one that is there first, and the others are destroyed.
  T& get() {
    holder& mine = find_or_make();
    detail::maybe_yield();
    return mine.value;
  }

 private:
  struct holder : detail::local_value {
    holder(std::uint64_t its_key, const std::function<T()>& make)
        : local_value{its_key, [](local_value& self) noexcept { delete static_cast<holder*>(&self); }}, value(make()) {}
    T value;
  };

  holder& find_or_make() {
    if (detail::local_value* const there = detail::find_local(key_)) return static_cast<holder&>(*there);
    auto* const made = new holder(key_, make_);
    detail::local_value& kept = detail::keep_local(*made);
    if (&kept != made) delete made;
    return static_cast<holder&>(kept);
  }

  const std::uint64_t key_ = detail::new_local_key();
  const std::function<T()> make_;
};

}}  // namespace fj::v0_4
