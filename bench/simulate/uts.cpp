// Unbalanced tree search: trees that only a SHA-1 per node tells. Olivier, Huan, Liu, Prins, Dinan, Sadayappan and Tseng,
// "UTS: an unbalanced tree search benchmark" (LCPC 2006), with the parameters of its sample trees.
#include <algorithm>
#include <array>
#include <cmath>

#include "bench/kernels/uts/sha1.hpp"
#include "bench/simulate/kernels.hpp"

namespace simulate {

namespace {

struct tree {
  bool geometric;
  double branching;     // expected children of a node; of a binomial tree the root's
  std::uint32_t depth;  // of a geometric tree
  std::uint32_t most;   // children of an inner node of a binomial tree
  double chance;        // that a node of a binomial tree is an inner one
  std::uint32_t seed;
};

// v: five words of state, depth, and two numbers of 16 bits: child and children. A child that has not started holds its
// parent's state and its own number; the SHA-1 that makes it is its own work.
class uts final : public kernel {
 public:
  uts(const tree& shape, const units& work) : shape_(shape), sha1_(ps(work.nanoseconds("uts.sha1"))) {}

  node root() const override {
    node first = {made_already, {}};
    put(first, sha1_of_seed());
    return first;
  }

  void at(node& self, unsigned phase, step& out) const override {
    if (phase > 0) return out.ends(0);
    if (self.kind == rest) return loop(0, self, self.v[6] & 0xffff, self.v[6] >> 16, out);
    if (self.kind == child) {
      put(self, bench::sha1(std::array{self.v[0], self.v[1], self.v[2], self.v[3], self.v[4], self.v[6]}));
      self.kind = made_already;
    }
    const std::uint32_t children = children_of(self);
    if (children == 0) return out.ends(sha1_);
    loop(sha1_, self, 0, children, out);
  }

 private:
  enum : std::uint32_t { made_already, child, rest };

  static void put(node& n, const bench::sha1_digest& s) {
    for (std::size_t i = 0; i < 5; ++i) n.v[i] = s[i];
  }

  // The benchmark makes the root's state of 16 zero bytes and the seed.
  bench::sha1_digest sha1_of_seed() const { return bench::sha1(std::array<std::uint32_t, 5>{0, 0, 0, 0, shape_.seed}); }

  std::uint32_t children_of(const node& n) const {
    const double chance = static_cast<double>(n.v[4] & 0x7fffffffu) / 2147483648.0;
    if (!shape_.geometric) {
      if (n.v[5] == 0) return static_cast<std::uint32_t>(shape_.branching);
      return chance < shape_.chance ? shape_.most : 0;
    }
    if (n.v[5] >= shape_.depth) return 0;
    const double p = 1.0 / (1.0 + shape_.branching);
    return std::min(static_cast<std::uint32_t>(std::floor(std::log(1 - chance) / std::log(1 - p))), 100u);
  }

  static void loop(picoseconds before, const node& self, std::uint32_t first, std::uint32_t children, step& out) {
    node next = self;
    next.kind = child;
    ++next.v[5];
    next.v[6] = first;
    if (first + 1 == children) return out.calls(before, next);
    node others = self;
    others.kind = rest;
    others.v[6] = (first + 1) | children << 16;
    out.forks(before, next, others);
  }

  const tree shape_;
  const picoseconds sha1_;
};

}  // namespace

made make_uts_t1(long, const units& work) { return std::make_unique<uts>(tree{true, 4, 10, 0, 0, 19}, work); }
made make_uts_t3(long, const units& work) { return std::make_unique<uts>(tree{false, 2000, 0, 8, 0.124875, 42}, work); }
made make_uts_t1l(long, const units& work) { return std::make_unique<uts>(tree{true, 4, 13, 0, 0, 29}, work); }
made make_uts_t3l(long, const units& work) { return std::make_unique<uts>(tree{false, 2000, 0, 5, 0.200014, 7}, work); }

}  // namespace simulate
