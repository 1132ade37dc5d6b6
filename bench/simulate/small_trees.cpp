// Kernels that are little but forks: fib, integrate, skynet, treesum.
#include <bit>
#include <cmath>
#include <cstddef>

#include "bench/simulate/kernels.hpp"

namespace simulate {

namespace {

class fib final : public kernel {
 public:
  fib(std::uint32_t n, const units& work) : n_(n), call_(ps(work.nanoseconds("fib.call"))) {}

  node root() const override { return {0, {n_}}; }

  void at(node& self, unsigned phase, step& out) const override {
    const std::uint32_t n = self.v[0];
    if (phase > 0) return out.ends(0);
    if (n < 2) return out.ends(call_);
    out.forks(call_, {0, {n - 1}}, {0, {n - 2}});
  }

 private:
  const std::uint32_t n_;
  const picoseconds call_;
};

// Trapezoids, halved until two halves are as good as the whole.
class integrate final : public kernel {
 public:
  integrate(double n, const units& work) : n_(n), call_(ps(work.nanoseconds("integrate.call"))) {}

  node root() const override { return between(0, n_); }

  void at(node& self, unsigned phase, step& out) const override {
    if (phase > 0) return out.ends(0);
    const double low = value(self, 0), high = value(self, 2), middle = low + (high - low) / 2;
    const double whole = area(low, high), halves = area(low, middle) + area(middle, high);
    if (std::abs(halves - whole) < 1e-9) return out.ends(call_);
    out.forks(call_, between(low, middle), between(middle, high));
  }

 private:
  static double f(double x) { return (x * x + 1) * x; }
  static double area(double low, double high) { return (f(low) + f(high)) / 2 * (high - low); }
  static double value(const node& n, std::size_t at) { return std::bit_cast<double>(pair_of(n.v[at], n.v[at + 1])); }
  static node between(double low, double high) {
    const auto a = std::bit_cast<std::uint64_t>(low), b = std::bit_cast<std::uint64_t>(high);
    return {0,
            {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32), static_cast<std::uint32_t>(b),
             static_cast<std::uint32_t>(b >> 32)}};
  }

  const double n_;
  const picoseconds call_;
};

// v: leaves below one child, children left to be forked.
class skynet final : public kernel {
 public:
  skynet(std::uint32_t leaves, const units& work) : leaves_(leaves), call_(ps(work.nanoseconds("skynet.call"))) {}

  node root() const override { return {whole, {leaves_}}; }

  void at(node& self, unsigned phase, step& out) const override {
    if (phase > 0) return out.ends(0);
    const auto [below, children, a, b, c, d, e] = self.v;
    if (self.kind == rest) return loop(0, below, children, out);
    if (below <= 1) return out.ends(call_);
    loop(call_, below / 10, 10, out);
  }

 private:
  enum : std::uint32_t { whole, rest };

  static void loop(picoseconds before, std::uint32_t below, std::uint32_t children, step& out) {
    const node child = {whole, {below}};
    if (children == 1) return out.calls(before, child);
    out.forks(before, child, {rest, {below, children - 1}});
  }

  const std::uint32_t leaves_;
  const picoseconds call_;
};

// v: first and last node of a subtree; what is left of the root is mostly a small share or nearly all.
class treesum final : public kernel {
 public:
  treesum(std::uint32_t nodes, const units& work) : nodes_(nodes), node_(ps(work.nanoseconds("treesum.node"))) {}

  node root() const override { return {0, {0, nodes_}}; }

  void at(node& self, unsigned phase, step& out) const override {
    const auto first = self.v[0], last = self.v[1];
    if (phase > 0 || first == last) return out.ends(0);
    const double u = static_cast<double>(random_at(first) >> 11) * 0x1p-53;
    const double share = random_at(~std::uint64_t{first}) % 2 == 0 ? u * u * u : 1 - u * u * u;
    const std::uint32_t middle = first + 1 + static_cast<std::uint32_t>(share * (last - first - 1));
    out.forks(node_, {0, {first + 1, middle}}, {0, {middle, last}});
  }

 private:
  const std::uint32_t nodes_;
  const picoseconds node_;
};

}  // namespace

made make_fib(long n, const units& work) { return std::make_unique<fib>(static_cast<std::uint32_t>(n), work); }
made make_integrate(long n, const units& work) { return std::make_unique<integrate>(static_cast<double>(n), work); }
made make_skynet(long n, const units& work) { return std::make_unique<skynet>(static_cast<std::uint32_t>(n), work); }
made make_treesum(long n, const units& work) { return std::make_unique<treesum>(static_cast<std::uint32_t>(n), work); }

}  // namespace simulate
