// What ThreadSanitizer cannot see by itself. Nothing in other builds.
#pragma once

namespace fj::detail::os {

/// What the calling strand did so far comes before what follows an `observe` of the same address. Said of objects that
/// strands reach by way of the worker they run on: a strand that is resumed on a worker, or uses its deque, comes after
/// the making of both; the end of a runtime comes after all its strands. ThreadSanitizer is told that a switch of stacks
/// orders nothing, or it would hide the races of users.
void publish(const void* what) noexcept;
void observe(const void* what) noexcept;

}  // namespace fj::detail::os
