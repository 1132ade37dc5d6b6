// The children that a scope keeps until its join, where the last child comes first.
//
// s.fork(f) puts f into the scope and pushes it as a record, which thieves may steal. The parent goes on. The join
// takes back what is left, the newest first, and waits for the rest.
//
// The deque needs the records of a strand to nest: what is pushed later is popped earlier. A fork of fork_join that is
// still open around s.fork would pop its own record before the child's. So a scope keeps a child only if it knows that
// no fork has begun since its newest child, or since the scope was made, that has not ended. Else it forks the child as
// fj::scope does, and the child comes first. So do forks of other strands, and forks while exceptions are in flight or
// handled: a kept child might begin when its parent has left the handler. A join that is called while such a fork is
// open takes nothing back: it waits until thieves have run the children, and a later join pops their records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/on_top.hpp"
#include "forkjoin/abi/scope.hpp"
#include "forkjoin/detail/branch.hpp"
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/detail/scope_state.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Memory that is given back all at once. The first pieces lie in the object itself.
class arena {
 public:
  arena() noexcept {}
  ~arena() { free_chunks(); }
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// nullptr if the system refuses it.
  void* allocate(std::size_t size, std::size_t alignment) noexcept {
    if (void* const at = std::align(alignment, size, free_, left_)) {
      free_ = static_cast<std::byte*>(at) + size;
      left_ -= size;
      return at;
    }
    const std::size_t needed = sizeof(chunk) + size + alignment;
    const std::size_t usual = newest_ ? 2 * newest_->size : least_chunk;
    const std::size_t chosen = usual > most_chunk ? most_chunk : usual;
    const std::size_t bytes = needed > chosen ? needed : chosen;
    void* const memory = ::operator new(bytes, std::nothrow);
    if (!memory) return nullptr;
    newest_ = ::new (memory) chunk{newest_, bytes};
    free_ = newest_ + 1;
    left_ = bytes - sizeof(chunk);
    return allocate(size, alignment);
  }

  /// Ends the life of all pieces.
  void clear() noexcept {
    free_chunks();
    free_ = own_;
    left_ = sizeof own_;
  }

 private:
  struct chunk {
    chunk* before;
    std::size_t size;
  };
  static constexpr std::size_t least_chunk = 1024;
  static constexpr std::size_t most_chunk = 65536;

  void free_chunks() noexcept {
    while (newest_) ::operator delete(std::exchange(newest_, newest_->before));
  }

  alignas(std::max_align_t) std::byte own_[256];  // of three small closures
  void* free_ = own_;
  std::size_t left_ = sizeof own_;
  chunk* newest_ = nullptr;
};

template <class Join>
class kept_children;

/// A child in the scope's memory; its closure follows in a derived class.
template <class Join>
struct kept_child : record_of<Join> {
  [[gnu::always_inline]] kept_child(continuation_body body, kept_children<Join>& of, std::uint64_t fork) noexcept
      : record_of<Join>(body), scope(of), number(fork) {}

  kept_children<Join>& scope;
  const std::uint64_t number;  ///< of the fork
  kept_child* before = nullptr;
};

template <class Join>
class kept_children {
 public:
  [[gnu::always_inline]] kept_children(scope_state& scope) noexcept : scope_(scope), level_(level_now()) {}
  kept_children(const kept_children&) = delete;
  kept_children& operator=(const kept_children&) = delete;

  bool empty() const noexcept { return !newest_; }
  /// Whether a join runs or awaits children.
  bool joins() const noexcept { return joins_; }

  /// What the scope's next fork is called, for the order of exceptions.
  std::uint64_t next_number() noexcept { return joins_ ? child::forked_elsewhere : forks_++; }

  /// Keeps the child; false if it must be forked in another way. Called by the strand that made the scope.
  template <class F>
  [[gnu::always_inline]] bool keep(worker& m, lvalue<F> f) {
    if (face_of(m).exceptions->any() || !at_own_level()) return false;
    using child_type = closure_of<std::decay_t<F>>;
    void* const room = memory_.allocate(sizeof(child_type), alignof(child_type));
    if (!room) return false;
    auto& c = *::new (room) child_type(*this, next_number(), static_cast<F&&>(f));
    c.before = newest_;
    if constexpr (!std::is_trivially_constructible_v<std::decay_t<F>, F>) {
      if (!at_own_level()) {  // moving the closure forked, and something was stolen
        child_type::run(c);
        return true;
      }
    }
    newest_ = std::addressof(c);
    if (detail::push_record(c)) [[unlikely]]
      push_slow();
    return true;
  }

  /// Runs what is left, the newest first, and waits for what was stolen. Nothing if the calling strand did not make the
  /// scope.
  [[gnu::cold, gnu::noinline]] void join() noexcept {
    if (current_fiber() != scope_.home) return;
    const bool at_level = at_own_level();
    joins_ = true;
    if (is_under_later_fork()) {
      wait_for_thieves();
    } else {
      take_back();
    }
    joins_ = false;
    if (at_level) level_ = level_now();
  }

  /// Whether a child that has not begun may begin: the serial program would have come to it.
  bool may_begin(std::uint64_t number) noexcept {
    if (scope_.errors.precedence() > ~number) return false;  // an earlier fork's child threw
    if (!scope_.stop_requested()) return true;
    scope_.errors.leave_out();
    return false;
  }

  first_exception& errors() noexcept { return scope_.errors; }

  /// Whether the strand that made the scope runs this.
  bool runs_at_home() const noexcept { return current_fiber() == scope_.home; }

 private:
  template <class Closure>
  struct closure_of : kept_child<Join> {
    template <class F>
    [[gnu::always_inline]] closure_of(kept_children& of, std::uint64_t fork, F&& f)
        : kept_child<Join>(&run, of, fork), closure(std::forward<F>(f)) {
      // The strand itself may take it for a thief's, on top of a wait: then it does not say when it has ended.
      if constexpr (is_timed<Join>) this->ended_at.store(0, std::memory_order_relaxed);
    }

    union {
      Closure closure;
    };

    [[gnu::always_inline]] ~closure_of() {}

    // What a thief calls, and the scope's own strand; aligned as branch::run is.
    [[gnu::aligned(16)]] static outcome run(continuation& self) noexcept {
      auto& mine = static_cast<closure_of&>(self);
      if constexpr (is_traced<Join>) mine.begins_here();
      if (mine.scope.may_begin(mine.number)) {
        try {
          static_cast<void>(mine.closure());
        } catch (...) {
          mine.scope.errors().offer(mine.number, caught_exception());
        }
      }
      std::destroy_at(std::addressof(mine.closure));
      if constexpr (is_timed<Join>)
        if (!mine.scope.runs_at_home()) mine.ends_here();
      return outcome::returned;
    }
  };

  // Whether the strand is in a branch of a fork that began after the newest child. Its record is above the child's.
  bool is_under_later_fork() const noexcept {
    const record_name now = face_of(current_deque()).newest();
    return newest_ && now != 0 && now != deque_face::name_of(*newest_);
  }

  // The children stay, as what is in the deque still names their records.
  void wait_for_thieves() noexcept {
    for (kept_child<Join>* c = newest_; c; c = c->before) {
      detail::leave_to_others_slow(c->joined);
      static_cast<void>(c->joined.result());  // see take_back
    }
  }

  void take_back() noexcept {
    while (newest_) {
      kept_child<Join>& c = *newest_;
      if (detail::pop_record(c) || detail::pop_slow(c)) {
        newest_ = c.before;
        c.joined.body()(c);
      } else {
        detail::wait_for<Join>(c);
        static_cast<void>(
            c.joined.result());  // its acquire: what the thief wrote is visible, by whichever way this strand came here
        newest_ = c.before;
      }
    }
    memory_.clear();
  }

  // Where the strand's forks stand. The newest record of its deque names the innermost open fork, but 0 says little:
  // there may be no open fork, or those that are open have been stolen. Then `thefts` tells whether anything has
  // changed.
  struct level {
    record_name newest;
    std::uint64_t thefts;
  };

  level level_now() const noexcept { return {face_of(current_deque()).newest(), face_of(*scope_.home).thefts}; }

  // Whether no fork is open that was begun after the newest child, or after the scope.
  [[gnu::always_inline]] bool at_own_level() const noexcept {
    if (joins_) return false;
    const record_name now = face_of(current_deque()).newest();
    if (newest_) return now == deque_face::name_of(*newest_);
    return now == level_.newest && (now != 0 || level_.thefts == face_of(*scope_.home).thefts);
  }

  scope_state& scope_;
  kept_child<Join>* newest_ = nullptr;
  level level_;
  std::uint64_t forks_ = 0;
  bool joins_ = false;
  arena memory_;
};

/// In place of it where the first child comes first.
struct keeps_none {
  explicit keeps_none(scope_state&) noexcept {}
  static constexpr bool empty() noexcept { return true; }
  static constexpr bool joins() noexcept { return false; }
};

}}}  // namespace fj::v0_4::detail
