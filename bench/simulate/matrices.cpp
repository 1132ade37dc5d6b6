// Recursive algorithms on dense matrices: matmul, strassen, lu, cholesky.
#include <algorithm>

#include "bench/simulate/kernels.hpp"

namespace simulate {

namespace {

constexpr std::uint32_t block = 32;

double cube(std::uint32_t n) { return static_cast<double>(n) * n * n; }

// v: rows, columns, and the side that is summed over.
class matmul final : public kernel {
 public:
  matmul(std::uint32_t n, const units& work) : n_(n), flop_(work.nanoseconds("matmul.flop")) {}

  node root() const override { return {0, {n_, n_, n_}}; }

  void at(node& self, unsigned phase, step& out) const override {
    const auto longest = static_cast<std::size_t>(
        std::max_element(self.v.begin(), self.v.begin() + 3, [](auto a, auto b) { return a < b; }) - self.v.begin());
    const std::uint32_t side = self.v[longest];
    if (side <= block) {
      return out.ends(ps(flop_ * self.v[0] * self.v[1] * self.v[2]));
    }
    node lower = self, upper = self;
    lower.v[longest] = side / 2;
    upper.v[longest] = side - side / 2;
    if (longest < 2) return phase == 0 ? out.forks(0, lower, upper) : out.ends(0);
    // Both halves add to the same product.
    if (phase == 2) return out.ends(0);
    out.calls(0, phase == 0 ? lower : upper);
  }

 private:
  const std::uint32_t n_;
  const double flop_;
};

// Winograd's variant: 8 additions of quarters before the products, 7 after. v: n, products left to be forked.
class strassen final : public kernel {
 public:
  strassen(std::uint32_t n, const units& work)
      : n_(n), flop_(work.nanoseconds("matmul.flop")), add_(work.nanoseconds("matrix.add")) {}

  node root() const override { return {whole, {n_}}; }

  void at(node& self, unsigned phase, step& out) const override {
    const std::uint32_t n = self.v[0], half = n - n / 2;
    const double quarter = static_cast<double>(half) * half;
    const node product = {whole, {half}};
    if (self.kind == rest) {
      if (phase > 0) return out.ends(0);
      if (self.v[1] == 1) return out.calls(0, product);
      return out.forks(0, product, {rest, {n, self.v[1] - 1}});
    }
    if (n <= 2 * block) return out.ends(ps(flop_ * cube(n)));
    if (phase > 0) return out.ends(ps(7 * add_ * quarter));
    out.forks(ps(8 * add_ * quarter), product, {rest, {n, 6}});
  }

 private:
  enum : std::uint32_t { whole, rest };

  const std::uint32_t n_;
  const double flop_, add_;
};

// What lu and cholesky have in common. v: n of a square block, parts left to be forked.
class blocks : public kernel {
 protected:
  explicit blocks(const units& work) : flop_(work.nanoseconds("matmul.flop")) {}

  enum : std::uint32_t { lu, cholesky, solve, solve_half, product, products, symmetric, symmetrics };

  static node square(std::uint32_t kind, std::uint32_t n, std::uint32_t parts = 0) { return {kind, {n, parts}}; }
  static void ends_at(unsigned phases, unsigned phase, const node& callee, step& out) {
    phase < phases ? out.calls(0, callee) : out.ends(0);
  }

  // B becomes B times the inverse of a triangle: the columns in two halves, each with the rows in two halves.
  void at_solve(const node& self, unsigned phase, step& out) const {
    const std::uint32_t n = self.v[0], half = n - n / 2;
    if (self.kind == solve) {
      if (n <= block) return out.ends(ps(flop_ * cube(n) / 2));
      return phase == 0 ? out.forks(0, square(solve_half, half), square(solve_half, half)) : out.ends(0);
    }
    ends_at(3, phase, square(phase == 1 ? product : solve, n), out);
  }

  // C - A B: four quarters of C, twice.
  void at_product(const node& self, unsigned phase, step& out) const {
    const std::uint32_t n = self.v[0], half = n - n / 2;
    if (self.kind == product) {
      if (n <= block) return out.ends(ps(flop_ * cube(n)));
      return phase < 2 ? out.forks(0, square(product, half), square(products, half, 3)) : out.ends(0);
    }
    if (phase > 0) return out.ends(0);
    if (self.v[1] == 1) return out.calls(0, square(product, n));
    out.forks(0, square(product, n), square(products, n, self.v[1] - 1));
  }

  const double flop_;
};

class lu_kernel final : public blocks {
 public:
  lu_kernel(std::uint32_t n, const units& work) : blocks(work), n_(n) {}

  node root() const override { return square(lu, n_); }

  void at(node& self, unsigned phase, step& out) const override {
    if (self.kind == solve || self.kind == solve_half) return at_solve(self, phase, out);
    if (self.kind != lu) return at_product(self, phase, out);
    const std::uint32_t n = self.v[0], half = n - n / 2;
    if (n <= block) return out.ends(ps(flop_ * cube(n) / 3));
    if (phase == 1) return out.forks(0, square(solve, half), square(solve, half));
    ends_at(4, phase, square(phase == 2 ? product : lu, half), out);
  }

 private:
  const std::uint32_t n_;
};

class cholesky_kernel final : public blocks {
 public:
  cholesky_kernel(std::uint32_t n, const units& work) : blocks(work), n_(n) {}

  node root() const override { return square(cholesky, n_); }

  void at(node& self, unsigned phase, step& out) const override {
    const std::uint32_t n = self.v[0], half = n - n / 2;
    switch (self.kind) {
      case cholesky:
        if (n <= block) return out.ends(ps(flop_ * cube(n) / 6));
        return ends_at(4, phase, square(phase == 1 ? solve : phase == 2 ? symmetric : cholesky, half), out);
      case symmetric:  // the lower half of C - A A^T: two triangles and a square, twice
        if (n <= block) return out.ends(ps(flop_ * cube(n) / 2));
        return phase < 2 ? out.forks(0, square(product, half), square(symmetrics, half)) : out.ends(0);
      case symmetrics:
        return phase == 0 ? out.forks(0, square(symmetric, n), square(symmetric, n)) : out.ends(0);
      case solve:
      case solve_half:
        return at_solve(self, phase, out);
      default:
        return at_product(self, phase, out);
    }
  }

 private:
  const std::uint32_t n_;
};

}  // namespace

made make_matmul(long n, const units& work) { return std::make_unique<matmul>(static_cast<std::uint32_t>(n), work); }
made make_strassen(long n, const units& work) {
  return std::make_unique<strassen>(static_cast<std::uint32_t>(n), work);
}
made make_lu(long n, const units& work) { return std::make_unique<lu_kernel>(static_cast<std::uint32_t>(n), work); }
made make_cholesky(long n, const units& work) {
  return std::make_unique<cholesky_kernel>(static_cast<std::uint32_t>(n), work);
}

}  // namespace simulate
