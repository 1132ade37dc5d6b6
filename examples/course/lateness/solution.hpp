// Lab 5: a tree in which a strand goes on late after a join. On four P:
//
//   the root forks  far:   20 ms of work, and then four branches of `far` ms each
//             and   near:  two branches, of `a` and `b` ms, b < a; then it joins them
//
// One P has near, another one steals far, the third a, and the fourth a branch of far. Which work does the first P take
// when b is done, and a is not?
#pragma once

#include <chrono>
#include <thread>

#include "forkjoin/forkjoin.hpp"

// The order of tasks, with the other join: the strand leaves its stack, and the P that ends a goes on with it.
using policy = fj::policy<fj::last_child_first, fj::leave_stack>;

// Occupies a P for so many milliseconds, but no processor. It forks now and then, so that thieves get what is in its
// deque.
template <class Policy>
void works(long milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    fj::fork_join<Policy>([] {}, [] {});
  }
}

template <class Policy>
void far_and_near(long far, long a, long b) {
  const auto begin_far = [=] {
    works<Policy>(20);
    const auto branch = [=] { works<Policy>(far); };
    fj::fork_join<Policy>(branch, branch, branch, branch);
  };
  const auto near = [=] { fj::fork_join<Policy>([=] { works<Policy>(a); }, [=] { works<Policy>(b); }); };
  fj::fork_join<Policy>(begin_far, near);
}

/// By how many milliseconds does the strand of near go on late by fj::tasks? At time b its P steals a branch of far,
/// and runs it on top of the strand until b + far. The join was complete at time a.
inline long predicted_lateness(long far, long a, long b) { return b + far - a; }
