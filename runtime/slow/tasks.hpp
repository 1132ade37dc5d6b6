// Joins of tasks, which wait on top of a stack.
#pragma once

#include "../fork/continuation.hpp"

namespace fj::inline v0_1::detail {

/// As join_slow, for a task: runs other records on top of this stack first.
[[gnu::cold]] void join_tasks_slow(join& stolen) noexcept;

}  // namespace fj::inline v0_1::detail
