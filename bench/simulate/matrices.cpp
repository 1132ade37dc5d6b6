// Recursive algorithms on dense matrices: matmul, strassen, lu, cholesky.
#include "bench/simulate/kernels.hpp"

namespace simulate {

namespace {

constexpr std::uint32_t tile = 16;

double cube(std::uint32_t n) { return static_cast<double>(n) * n * n; }

// What all of them are made of. v: n of a square block, parts left to be forked.
class blocks : public kernel {
 protected:
  explicit blocks(const units& work) : flop_(work.nanoseconds("matmul.flop")) {}

  enum : std::uint32_t { whole, product, inner, inners, solve, solve_part, symmetric, symmetrics, diagonal };

  static node square(std::uint32_t kind, std::uint32_t n, std::uint32_t parts = 0) { return {kind, {n, parts}}; }
  static void calls_until(unsigned phases, unsigned phase, const node& callee, step& out) {
    phase < phases ? out.calls(0, callee) : out.ends(0);
  }

  // C += A B: four quarters of C at once, each the sum of two products.
  void at_product(const node& self, unsigned phase, step& out) const {
    const std::uint32_t n = self.v[0], half = n / 2;
    if (self.kind == inner) return calls_until(2, phase, square(product, n), out);
    if (self.kind == product && n <= tile) return out.ends(ps(flop_ * cube(n)));
    if (phase > 0) return out.ends(0);
    if (self.kind == product) return out.forks(0, square(inner, half), square(inners, half, 3));
    if (self.v[1] == 1) return out.calls(0, square(inner, n));
    out.forks(0, square(inner, n), square(inners, n, self.v[1] - 1));
  }

  // B times the inverse of a triangle: the columns in two halves, each with the rows in two halves.
  void at_solve(const node& self, unsigned phase, step& out) const {
    const std::uint32_t n = self.v[0], half = n / 2;
    if (self.kind == solve_part) return calls_until(3, phase, square(phase == 1 ? product : solve, n), out);
    if (n <= tile) return out.ends(ps(flop_ * cube(n) / 2));
    phase == 0 ? out.forks(0, square(solve_part, half), square(solve_part, half)) : out.ends(0);
  }

  const double flop_;
};

class matmul final : public blocks {
 public:
  matmul(std::uint32_t n, const units& work) : blocks(work), n_(n) {}

  node root() const override { return square(product, n_); }
  void at(node& self, unsigned phase, step& out) const override { at_product(self, phase, out); }

 private:
  const std::uint32_t n_;
};

// Seven products of sums, then the quarters of the result. v: n, products or rows left, columns.
class strassen final : public kernel {
 public:
  strassen(std::uint32_t n, const units& work)
      : n_(n), flop_(work.nanoseconds("matmul.flop")), add_(work.nanoseconds("matrix.add")) {}

  node root() const override { return {whole, {n_}}; }

  void at(node& self, unsigned phase, step& out) const override {
    const auto [n, left, operands, a, b, c, d] = self.v;
    switch (self.kind) {
      case whole:
        if (n <= 64) return out.ends(ps(flop_ * cube(n)));
        if (phase == 0) return out.forks(0, {part, {n / 2, 7}}, {parts, {n / 2, 6}});
        return phase == 1 ? out.calls(0, {rows, {n / 2, n / 2, 8}}) : out.ends(0);
      case parts:
        if (phase > 0) return out.ends(0);
        if (left == 1) return out.calls(0, {part, {n, 1}});
        return out.forks(0, {part, {n, left}}, {parts, {n, left - 1}});
      case part: {  // the first, the third and the fifth product are of two sums, the others of one
        const unsigned sums = left >= 3 && left % 2 == 1 ? 2 : 1;
        if (phase < sums) return out.calls(0, {rows, {n, n, 1}});
        return phase == sums ? out.calls(0, {whole, {n}}) : out.ends(0);
      }
      default:
        if (left <= 32) return out.ends(ps(add_ * operands * left * n));
        if (phase > 0) return out.ends(0);
        out.forks(0, {rows, {n, left / 2, operands}}, {rows, {n, left - left / 2, operands}});
    }
  }

 private:
  enum : std::uint32_t { whole, part, parts, rows };

  const std::uint32_t n_;
  const double flop_, add_;
};

class lu final : public blocks {
 public:
  lu(std::uint32_t n, const units& work) : blocks(work), n_(n) {}

  node root() const override { return square(whole, n_); }

  void at(node& self, unsigned phase, step& out) const override {
    if (self.kind == solve || self.kind == solve_part) return at_solve(self, phase, out);
    if (self.kind != whole) return at_product(self, phase, out);
    const std::uint32_t n = self.v[0], half = n / 2;
    if (n <= tile) return out.ends(ps(flop_ * cube(n) / 3));
    if (phase == 1) return out.forks(0, square(solve, half), square(solve, half));
    calls_until(4, phase, square(phase == 2 ? product : whole, half), out);
  }

 private:
  const std::uint32_t n_;
};

class cholesky final : public blocks {
 public:
  cholesky(std::uint32_t n, const units& work) : blocks(work), n_(n) {}

  node root() const override { return square(whole, n_); }

  void at(node& self, unsigned phase, step& out) const override {
    const std::uint32_t n = self.v[0], half = n / 2;
    switch (self.kind) {
      case whole:
        if (n <= tile) return out.ends(ps(flop_ * cube(n) / 6));
        return calls_until(4, phase, square(phase == 1 ? solve : phase == 2 ? symmetric : whole, half), out);
      case symmetric:  // the lower triangle of C - A A^T: two triangles and a square, each the sum of two products
        if (n <= tile) return out.ends(ps(flop_ * cube(n)));
        return phase == 0 ? out.forks(0, square(diagonal, half), square(symmetrics, half)) : out.ends(0);
      case symmetrics:
        return phase == 0 ? out.forks(0, square(inner, n), square(diagonal, n)) : out.ends(0);
      case diagonal:
        return calls_until(2, phase, square(symmetric, n), out);
      case solve:
      case solve_part:
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
made make_lu(long n, const units& work) { return std::make_unique<lu>(static_cast<std::uint32_t>(n), work); }
made make_cholesky(long n, const units& work) {
  return std::make_unique<cholesky>(static_cast<std::uint32_t>(n), work);
}

}  // namespace simulate
