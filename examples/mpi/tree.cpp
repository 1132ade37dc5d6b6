// Counts the nodes of a tree that exists only as a rule, on many machines: the hash of a node gives its children. No
// one knows the shape before: most of the nodes are below few of the root's 500 children, in long thin branches. (A
// binomial tree of Unbalanced Tree Search: Olivier et al., LCPC 2006.)
//
//   mpirun -n 4 tree
#include <cstdint>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/mpi.hpp>
#include <functional>
#include <iostream>

namespace {

struct node {
  std::uint64_t hash;
  bool is_top;

  int children() const { return is_top ? 500 : hash % 1'000 < 244 ? 4 : 0; }
  node child(int i) const {
    std::uint64_t x = hash + 0x9e3779b97f4a7c15 * static_cast<std::uint64_t>(i + 1);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return {x ^ (x >> 31), false};
  }
};

// Counts so many levels below n by forks, and adds the nodes below these to the pool.
long count(const node& n, int levels, fj::mpi::steal_pool<node>& pool) {
  if (levels == 0) return pool.add(n), 0;
  return fj::fork_reduce(0, n.children(), 1L, std::plus<>(),
                         [&](int i) { return count(n.child(i), levels - 1, pool); });
}

long count_serially(const node& n) {
  long sum = 1;
  for (int i = 0; i < n.children(); ++i) sum += count_serially(n.child(i));
  return sum;
}

}  // namespace

int main() {
  const fj::mpi::session mpi;
  const node top{1, true};

  fj::mpi::steal_pool<node> pool(mpi);
  if (mpi.rank() == 0) pool.add(top);
  const long nodes = pool.run(0L, [&](const node& n) { return count(n, 10, pool); }, std::plus<>());

  const bool right = nodes == count_serially(top);
  if (mpi.rank() == 0)
    std::cout << nodes << " nodes, " << (right ? "right" : "wrong") << " on " << mpi.ranks()
              << (mpi.ranks() == 1 ? " rank\n" : " ranks\n");
  return right ? 0 : 1;
}
