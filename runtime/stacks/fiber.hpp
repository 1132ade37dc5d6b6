// G: a stack, and the context saved on it while it does not run.
//
// A fiber is free (in the pool, at a worker's hand, or below a fiber that forks through scopes), runnable (in the global
// queue, or in one worker's hands), running (on one worker), or waiting (in a join word, or for another runtime). Whoever takes it out of one of these states owns it until it puts it into the next.
#pragma once

#include <cstddef>

#include "../base/counters.hpp"
#include "../base/relaxed.hpp"
#include "../fork/continuation.hpp"
#include "../fork/deque.hpp"
#include "../fork/root.hpp"
#include "../os/context/context.hpp"

namespace fj::inline v0_1::detail {

class stack_pool;

/// Lies at the top of its own stack's mapping and lives as long as that: pooled, never freed while the runtime lives.
struct fiber : join_waiter {
  os::context context;
  handed<root*> job = nullptr;             ///< what it works for
  handed<bool> begun = false;              ///< to run the job or a stolen record; else it is a scope's child, or free
  handed<continuation*> stolen = nullptr;  ///< the record it was begun for; nullptr if it runs the job
  handed<void*> handled = nullptr;         ///< the exception that the parent of that record handles; nullptr: none
  handed<join*> handoff = nullptr;         ///< of a scope's child, with steal_every_fork: where it waits for its thief
  handed<deque*> records = nullptr;        ///< the deque it took along when it suspended; nullptr if that was empty
  handed_new<fiber*> below = nullptr;      ///< free, for the next child that a scope forks from here
  handed<fiber*> next = nullptr;           ///< in the pool or the global queue
  handed<stack_tally*> counted = nullptr;  ///< the P that took the stack, as its counters know
  // Among the fibers that took along a deque in which there are records still; under the scheduler's mutex.
  fiber* next_detached = nullptr;
  fiber** detached_link = nullptr;  ///< what points to this one; nullptr if it is not among them
  std::byte* mapping = nullptr;     ///< guard, stack, this object, and a page that is a guard, too, where that is free
  std::size_t mapping_size = 0;
  std::size_t guard_size = 0;
  handed<bool> marked = false;       ///< see trim_stack
  handed<unsigned> trims = 0;        ///< see trim_stack
  unsigned number = 0;               ///< for messages
  const stack_pool* pool = nullptr;  ///< that it belongs to

  std::byte* stack_bottom() const noexcept { return mapping + guard_size; }
  std::byte* stack_top() noexcept { return reinterpret_cast<std::byte*>(this); }
  std::size_t stack_size() const noexcept {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(this) - stack_bottom());
  }
};

}  // namespace fj::inline v0_1::detail
