// What the slow paths of this folder ask one another; programs call them by the headers of forkjoin/abi/.
#pragma once

#include "forkjoin/abi/continuation.hpp"
#include "forkjoin/abi/scope.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// As join_slow, for a strand in a runtime that has said already that it waits.
void finish_join(join& stolen) noexcept;

// The two parts of join_children_slow. By the home strand: counts the wait if not all have arrived, and says so.
bool count_wait(children& scope) noexcept;
void finish_join(children& scope) noexcept;

/// Whether the record is a parent's continuation, which has a stack of its own.
bool is_parent(const continuation& record) noexcept;

/// Whether the record is the rest of a loop, which runs on a stack of its own.
bool is_loop_rest(const continuation& record) noexcept;

}}}  // namespace fj::v0_4::detail
