// A search in a tree that ends with the first find: which weights have the wanted sum? If several selections have it,
// the schedule decides which one is found.

#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <vector>

struct search {
  const std::vector<long>& weights;
  fj::stop_source found = {};
  fj::stop_token token = found.get_token();
  std::size_t answer = 0;  // a bit for each weight

  void visit(std::size_t next, long rest, std::size_t chosen) {
    if (rest == 0) {
      if (found.request_stop()) answer = chosen;  // only the first request returns true
      return;
    }
    if (rest < 0 || next == weights.size()) return;
    fj::fork_join(
        token, [=, this] { visit(next + 1, rest - weights[next], chosen | std::size_t{1} << next); },
        [=, this] { visit(next + 1, rest, chosen); });
  }
};

int main() {
  std::vector<long> weights;
  for (long i = 1; i <= 22; ++i) weights.push_back(i * 1'009 % 857 * 1'000 + i);
  const long wanted = weights[1] + weights[4] + weights[11] + weights[17] + weights[20];
  search one{.weights = weights};
  try {
    fj::run([&] { one.visit(0, wanted, 0); });
  } catch (const fj::cancelled&) {}  // branches were left out
  long sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) sum += (one.answer >> i & 1) ? weights[i] : 0;
  std::cout << (sum == wanted ? "found the sum\n" : "no such sum\n");
}
