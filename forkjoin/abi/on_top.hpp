// Joins at which the waiting strand runs other records on top of its own stack.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/atomic.hpp"
#include "forkjoin/abi/continuation.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A record that says when its thief was done, for a strand that does not leave its stack meanwhile.
struct timed_continuation : continuation {
  [[gnu::always_inline]] explicit timed_continuation(continuation_body body) noexcept : continuation(body) {}

  /// Called by the thief last, before its arrival.
  [[gnu::cold]] void ends_here() noexcept;

  os::unset_atomic<std::int64_t> ended_at;  ///< by os::now_ns; the arrival orders it
};

/// A record that also says on which P its thief runs it.
struct traced_continuation : timed_continuation {
  [[gnu::always_inline]] explicit traced_continuation(continuation_body body) noexcept : timed_continuation(body) {}

  /// Called by the thief before it begins. Its arrival comes later, so the record is still there.
  [[gnu::cold]] void begins_here() noexcept;

  static constexpr unsigned no_proc = ~0u;
  // relaxed: a number. A waiting owner that reads it late looks once more.
  std::atomic<unsigned> thiefs_proc{no_proc};
};

/// As join_slow, but the strand first runs other records of its job on top of its stack.
[[gnu::cold]] void join_on_top_slow(timed_continuation& stolen) noexcept;

/// As join_slow, but the strand first runs records of the thief's P on top of its stack: leapfrogging.
[[gnu::cold]] void leapfrog_slow(traced_continuation& stolen) noexcept;

/// As join_slow, but first as the join rule of this build says: runtime/base/join_rule.hpp.
[[gnu::cold]] void own_join_slow(traced_continuation& stolen) noexcept;

struct children;

// As join_children_slow, but the home strand first runs other records of the job on top of its stack, until all
// children have arrived, there is nothing to run for a while, or the strand had better leave its stack.
[[gnu::cold]] void join_children_on_top_slow(children& scope) noexcept;
/// Of that P alone.
[[gnu::cold]] void leapfrog_children_slow(children& scope, unsigned proc) noexcept;
/// As the join rule of this build says; the child of the latest stolen fork began on that P.
[[gnu::cold]] void own_join_children_slow(children& scope, unsigned proc) noexcept;

}}}  // namespace fj::v0_4::detail
