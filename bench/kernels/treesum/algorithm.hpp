// The sum over an irregular binary tree: a fork at every node, no cut-off.
#pragma once

#include "bench/harness/work.hpp"

namespace bench::treesum {

struct node {
  const node* left;
  const node* right;
  long value;
};

template <class Way>
long sum(const node* tree) {
  if (tree == nullptr) return 0;
  if constexpr (counts_work<Way>) Way::work(unit::treesum_node, 1);
  auto [left, right] = Way::fork([=] { return sum<Way>(tree->left); }, [=] { return sum<Way>(tree->right); });
  return tree->value + left + right;
}

}  // namespace bench::treesum
