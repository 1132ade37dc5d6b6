// What the twin tells the race detector. The detector is a library of its own, forkjoin-races: runtime/races/README.md
// tells how it works. forkjoin/serial/observer.hpp says what the names mean.
//
// Each call leads into that library, which is compiled apart and without -fsanitize=thread. So no compiler looks
// through it, and all that a branch has on the stack lies below the frame of the call.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>

#include "forkjoin/abi/races.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

inline constexpr bool is_observed = true;
inline constexpr bool sees_all_forks = true;

using races::block_kind;

class fork_block {
 public:
  [[gnu::always_inline]] explicit fork_block(block_kind kind) noexcept { races::begin(block_, kind); }
  [[gnu::always_inline]] ~fork_block() { races::end(block_); }
  fork_block(const fork_block&) = delete;
  fork_block& operator=(const fork_block&) = delete;

  template <class F>
  [[gnu::always_inline]] void branch(F&& f) {
    races::branch(block_, &call<std::remove_reference_t<F>>, std::addressof(f), sizeof f);
  }

  template <class... F>
  [[gnu::always_inline]] void branches(F&&... f) {
    (branch(f), ...);
    join();
  }

  template <class F>
  [[gnu::always_inline]] void branch_beside(F&& f) {
    races::branch_beside(block_, &call<std::remove_reference_t<F>>, std::addressof(f), sizeof f);
  }

  template <class F>
  [[gnu::always_inline]] void iterations(std::size_t n, F&& f) {
    races::iterations(block_, n, &call_iteration<std::remove_reference_t<F>>, std::addressof(f), sizeof f);
  }

  [[gnu::always_inline]] void join() noexcept { races::join(block_); }

 private:
  template <class F>
  static void call(void* f) {
    (*static_cast<F*>(f))();
  }

  template <class F>
  static void call_iteration(void* f, std::size_t iteration) {
    (*static_cast<F*>(f))(iteration);
  }

  races::block block_;
};

constexpr void run_begins() noexcept {}
constexpr void run_ends() noexcept {}

/// To the detector atomic accesses do not race with one another.
template <class T>
using unseen = std::atomic<T>;

class unobserved {
 public:
  unobserved() noexcept { races::ignore_begin(); }
  ~unobserved() { races::ignore_end(); }
  unobserved(const unobserved&) = delete;
  unobserved& operator=(const unobserved&) = delete;
};

using strand_number = races::strand_number;
inline strand_number strand_here() noexcept { return races::strand_here(); }
inline bool runs_beside(strand_number strand) noexcept { return races::runs_beside(strand); }

}}}  // namespace fj::v0_4::detail
