// Lab 2: numbers the leaves of a tree from left to right, 0, 1, 2, ... The result must not depend on the schedule.
#pragma once

#include <memory>

#include "forkjoin/forkjoin.hpp"

struct node {
  std::unique_ptr<node> left, right;  // both, or none: a leaf
  long number = -1;                   // of a leaf: what is asked for
  long room = 0;                      // for you
};

template <class Policy>
void number_from(node& here, long& next) {
  if (!here.left) {
    here.number = next++;
    return;
  }
  fj::fork_join<Policy>([&] { number_from<Policy>(*here.left, next); },
                        [&] { number_from<Policy>(*here.right, next); });
}

template <class Policy>
void number_leaves(node& root) {
  long next = 0;
  number_from<Policy>(root, next);
}
