// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::treesum {

namespace {

long sum(const node* tree) {
  if (tree == nullptr) return 0;
  const long left = sum(tree->left);
  const long right = sum(tree->right);
  return tree->value + left + right;
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  result_ = sum(root_);
}

}  // namespace bench::treesum

BENCH_WAY(serial)
