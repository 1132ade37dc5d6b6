// What the twin tells the profile. The profile is a library of its own, forkjoin-profile: runtime/profile/README.md
// tells how it works. forkjoin/serial/observer.hpp says what the names mean.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "forkjoin/abi/profile.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

inline constexpr bool is_observed = true;
inline constexpr bool sees_all_forks = false;

using profile::block_kind;

class fork_block {
 public:
  [[gnu::always_inline]] explicit fork_block(block_kind kind) noexcept {
    if (kind != block_kind::fork_join) profile::begin(block_, kind);
  }
  [[gnu::always_inline]] ~fork_block() {
    if (block_.is_open) profile::end(block_);
  }
  fork_block(const fork_block&) = delete;
  fork_block& operator=(const fork_block&) = delete;

  template <class F>
  [[gnu::always_inline]] void branch(F&& f) {
    if (!block_.is_open) profile::begin(block_, block_kind::fork_join);
    profile::branch(block_, &call<std::remove_reference_t<F>>, pointer_to(f));
  }

  template <class... F>
  [[gnu::always_inline]] void branches(F&&... f) {
    if constexpr (sizeof...(F) == 2) {
      profile::fork_two({&call<std::remove_reference_t<F>>, pointer_to(f)}...);
    } else {
      (branch(f), ...);
      join();
    }
  }

  template <class F>
  [[gnu::always_inline]] void branch_beside(F&& f) {
    profile::branch_beside(block_, &call<std::remove_reference_t<F>>, pointer_to(f));
  }

  template <class F>
  [[gnu::always_inline]] void iterations(std::size_t n, F&& f) {
    profile::iterations(block_, n, &call_iteration<std::remove_reference_t<F>>, pointer_to(f));
  }

  template <class F>
  [[gnu::always_inline]] void parts(std::size_t n, std::size_t grain, F&& f) {
    profile::parts(block_, n, grain, &call_part<std::remove_reference_t<F>>, pointer_to(f));
  }

  [[gnu::always_inline]] void join() noexcept { profile::join(block_); }

 private:
  // A closure may be const; its call gets it back as it was.
  template <class F>
  static void* pointer_to(F& f) noexcept {
    return const_cast<void*>(static_cast<const void*>(std::addressof(f)));
  }

  template <class F>
  static void call(void* f) {
    (*static_cast<F*>(f))();
  }

  template <class F>
  static void call_iteration(void* f, std::size_t iteration) {
    (*static_cast<F*>(f))(iteration);
  }

  template <class F>
  static void call_part(void* f, std::size_t begin, std::size_t end) {
    (*static_cast<F*>(f))(begin, end);
  }

  profile::block block_;
};

using profile::run_begins;
using profile::run_ends;

template <class T>
using unseen = T;

/// All that the program does takes time.
struct [[maybe_unused]] unobserved {
  constexpr unobserved() noexcept {}
};

/// Branches that follow each other share what they would share on one P: as many values as branches would cost time
/// that no run on a few P costs.
struct strand_number {};
constexpr strand_number strand_here() noexcept { return {}; }
constexpr bool runs_beside(strand_number) noexcept { return false; }

}}}  // namespace fj::v0_4::detail
