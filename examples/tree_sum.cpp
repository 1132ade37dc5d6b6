// The sum over a tree of any shape. Usage: tree_sum [n], default a million nodes. Every node is a fork: you need no
// grain, and need not know the shape.

#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <memory>
#include <random>

struct node {
  long value;
  std::unique_ptr<node> left, right;
};

// Makes nodes with the values first ... last - 1, divided at random, so that the tree is out of balance.
std::unique_ptr<node> grow(long first, long last, std::minstd_rand random) {
  if (first == last) return nullptr;
  const long middle = first + static_cast<long>(random() % static_cast<unsigned long>(last - first));
  const std::minstd_rand::result_type seed = random();
  auto [left, right] = fj::fork_join([=] { return grow(first, middle, std::minstd_rand(seed)); },
                                     [=] { return grow(middle + 1, last, std::minstd_rand(seed + 1)); });
  return std::make_unique<node>(middle, std::move(left), std::move(right));
}

long sum(const node* tree) {
  if (!tree) return 0;
  auto [left, right] = fj::fork_join([=] { return sum(tree->left.get()); }, [=] { return sum(tree->right.get()); });
  return left + tree->value + right;
}

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  if (n < 1 || n > 100'000'000) {
    std::cerr << "tree_sum: n is " << n << ", but must be from 1 to 100000000\n";
    return 1;
  }
  const auto tree = fj::run([n] { return grow(0, n, std::minstd_rand(1)); });
  std::cout << "sum = " << fj::run([&] { return sum(tree.get()); }) << '\n';
}
