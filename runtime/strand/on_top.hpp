// Joins at which the waiting strand runs other records on top of its own stack.
#pragma once

#include <atomic>

#include "../fork/continuation.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// A record that says on which P its thief runs it.
struct traced_continuation : continuation {
  [[gnu::always_inline]] explicit traced_continuation(continuation_body body) noexcept : continuation(body) {}

  /// Called by the thief before it begins. Its arrival comes later, so the record is still there.
  [[gnu::cold]] void begins_here() noexcept;

  static constexpr unsigned no_proc = ~0u;
  // relaxed: a number. A waiting owner that reads it late looks once more.
  std::atomic<unsigned> thiefs_proc{no_proc};
};

/// As join_slow, but the strand first runs other records of its root on top of its stack.
[[gnu::cold]] void join_on_top_slow(join& stolen) noexcept;

/// As join_slow, but the strand first runs records of the thief's P on top of its stack: leapfrogging.
[[gnu::cold]] void leapfrog_slow(traced_continuation& stolen) noexcept;

struct children;

// Before join_children_slow: run other records of the root on top of the home strand's stack until all children have arrived,
// there is nothing to run for a while, or the strand had better leave its stack. Nothing if another strand calls.
[[gnu::cold]] void join_children_on_top_slow(children& scope) noexcept;
/// Of that P alone.
[[gnu::cold]] void leapfrog_children_slow(children& scope, unsigned proc) noexcept;

}}}  // namespace fj::v0_2::detail
