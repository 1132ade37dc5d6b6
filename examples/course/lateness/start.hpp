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

using policy = fj::tasks;  // for you

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

/// By how many milliseconds does the strand of near go on late by fj::tasks?
inline long predicted_lateness(long /*far*/, long /*a*/, long /*b*/) { return 0; }
