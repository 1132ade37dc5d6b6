// Lab 2: numbers the leaves of a tree from left to right, 0, 1, 2, ... The result must not depend on the schedule.
#pragma once

#include <memory>

#include "forkjoin/forkjoin.hpp"

struct node {
  std::unique_ptr<node> left, right;  // both, or none: a leaf
  long number = -1;                   // of a leaf: what is asked for
  long room = 0;                      // how many leaves are below
};

// How many leaves are below? Each branch writes its own nodes alone.
template <class Policy>
long count(node& here) {
  if (!here.left) return here.room = 1;
  auto [left, right] =
      fj::fork_join<Policy>([&] { return count<Policy>(*here.left); }, [&] { return count<Policy>(*here.right); });
  return here.room = left + right;
}

// A branch is told where its numbers begin: it asks no other branch.
template <class Policy>
void number_from(node& here, long first) {
  if (!here.left) {
    here.number = first;
    return;
  }
  const long middle = first + here.left->room;
  fj::fork_join<Policy>([&, first] { number_from<Policy>(*here.left, first); },
                        [&, middle] { number_from<Policy>(*here.right, middle); });
}

template <class Policy>
void number_leaves(node& root) {
  count<Policy>(root);
  number_from<Policy>(root, 0);
}
