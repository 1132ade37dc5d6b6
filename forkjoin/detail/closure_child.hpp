// A child of a scope or of a task group, with the closure that it runs, on a stack of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/scope.hpp"
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/detail/scope_state.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A child with the closure it runs, at the top of its own stack.
template <class Closure>
struct closure_child : child {
  /// The place for it. The top of a stack lies at a cache line.
  [[gnu::always_inline]] static void* place_on(fiber& stack) noexcept {
    std::byte* const at = stack_top(stack) - room();
    if constexpr (is_at_top()) return at;
    constexpr std::size_t alignment = alignof(closure_child);
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) / alignment * alignment);
  }

  template <class F>
  [[gnu::always_inline]] closure_child(children& s, F&& f) : child(s), closure(std::forward<F>(f)) {}
  [[gnu::always_inline]] ~closure_child() {}

  union {
    Closure closure;
    std::exception_ptr error;  ///< what the closure threw, when that is gone
  };

  // Runs on the child's stack. After it has returned, that stack holds nothing, or `error`.
  static std::uintptr_t run(void* self) noexcept {
    auto& mine = *static_cast<closure_child*>(self);
    if (detail::push_record(face_of(mine.stack()).as_child)) [[unlikely]]
      detail::start_child_slow(mine);
    if (!mine.call()) [[unlikely]]
      return mine.finish_after_throw();
    if (!detail::pop_record(face_of(mine.stack()).as_child)) [[unlikely]]
      if (!detail::finish_child_slow(mine)) detail::end_stolen_child(mine, &run);
    return static_cast<std::uintptr_t>(fork_end::returned);
  }

 private:
  // Functions, because only in them is the size of this class known.
  static constexpr bool is_at_top() { return alignof(closure_child) <= cache_line; }
  static constexpr std::size_t room() {
    constexpr std::size_t alignment = alignof(closure_child) > 16 ? alignof(closure_child) : 16;
    return (sizeof(closure_child) + alignment - 1) / alignment * alignment;
  }

  [[gnu::always_inline]] fiber& stack() noexcept {
    if constexpr (is_at_top()) return *reinterpret_cast<fiber*>(reinterpret_cast<std::byte*>(this) + room());
    return *current_fiber();
  }

  [[gnu::always_inline]] bool call() noexcept {
    try {
      const destroyer destroy_after_call{closure};
      static_cast<void>(closure());
      return true;
    } catch (...) {
      std::construct_at(&error, caught_exception());
      return false;
    }
  }

  [[gnu::cold, gnu::noinline]] std::uintptr_t finish_after_throw() noexcept {
    if (detail::pop_record(face_of(stack()).as_child) || detail::finish_child_slow(*this))
      return static_cast<std::uintptr_t>(fork_end::threw);
    static_cast<scope_state&>(scope).errors.offer(number, std::move(error));
    std::destroy_at(&error);
    detail::end_stolen_child(*this, &run);
  }

  struct destroyer {
    Closure& of;
    [[gnu::always_inline]] ~destroyer() { std::destroy_at(std::addressof(of)); }
  };
};

template <class Child>
[[gnu::always_inline]] inline bool fits(const fiber& stack) noexcept {
  if constexpr (sizeof(Child) <= 4096) {
    return true;  // the smallest stack has four times as much
  } else {
    return sizeof(Child) <= stack_size(stack) / 2;
  }
}

/// Puts the child on the stack `below` of the running fiber `here`. If moving the closure there throws, nothing has
/// changed. The move may fork, too; meanwhile the stack is put aside.
template <class Child, class F>
[[gnu::always_inline]] inline Child& construct_child(children& scope, fiber& here, fiber& below, lvalue<F> f) {
  void* const room = Child::place_on(below);
#ifdef FORKJOIN_DEBUG
  // Below the child, where a smaller child may have left its frames.
  constexpr std::size_t return_address = sizeof(void*);
  usable_in_debug(static_cast<std::byte*>(room) - return_address, sizeof(Child) + return_address);
#endif
  if constexpr (std::is_trivially_constructible_v<std::decay_t<F>, F>) {
    return *::new (room) Child(scope, static_cast<F&&>(f));
  } else {
    const below_put_aside until_placed(here, below);
    return *::new (room) Child(scope, static_cast<F&&>(f));
  }
}

}}}  // namespace fj::v0_4::detail
