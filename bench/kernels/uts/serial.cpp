// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::uts {

namespace {

tally visit(const tree& t, const node& n) {
  const int children = n.children(t);
  tally sum{1, children == 0, n.height};
  for (int i = 0; i < children; ++i) sum = sum + visit(t, n.child(i));
  return sum;
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  result_ = visit(tree_, node::root(tree_));
}

}  // namespace bench::uts

BENCH_WAY(serial)
