// Kernels on arrays: cilksort, quicksort, heat, fft, mandelbrot.
#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/simulate/kernels.hpp"

namespace simulate {

namespace {

double times_log2(std::uint32_t n) { return n > 1 ? n * std::log2(static_cast<double>(n)) : 1; }

// v: elements, quarters left to be forked, elements of the last. Every merge is taken to split evenly.
class cilksort final : public kernel {
 public:
  cilksort(std::uint32_t n, const units& work)
      : n_(n), compare_(work.nanoseconds("sort.compare")), merge_(work.nanoseconds("sort.merge")) {}

  node root() const override { return {sort, {n_}}; }

  void at(node& self, unsigned phase, step& out) const override {
    const std::uint32_t n = self.v[0], quarter = n / 4;
    switch (self.kind) {
      case sort:
        if (n <= grain) return out.ends(ps(compare_ * times_log2(n)));
        if (phase == 0) return out.forks(0, {sort, {quarter}}, {sorts, {quarter, 3, n - 3 * quarter}});
        if (phase == 1) return out.forks(0, {merge, {2 * quarter}}, {merge, {n - 2 * quarter}});
        return phase == 2 ? out.calls(0, {merge, {n}}) : out.ends(0);
      case sorts:
        if (phase > 0) return out.ends(0);
        if (self.v[1] == 1) return out.calls(0, {sort, {self.v[2]}});
        return out.forks(0, {sort, {n}}, {sorts, {n, self.v[1] - 1, self.v[2]}});
      default:
        if (n <= grain) return out.ends(ps(merge_ * n));
        if (phase > 0) return out.ends(0);
        out.forks(ps(compare_ * std::log2(static_cast<double>(n))), {merge, {n / 2}}, {merge, {n - n / 2}});
    }
  }

 private:
  enum : std::uint32_t { sort, sorts, merge };
  static constexpr std::uint32_t grain = 2048;

  const std::uint32_t n_;
  const double compare_, merge_;
};

// v: elements, place. The pivot is the median of three random ones; neither side is empty.
class quicksort final : public kernel {
 public:
  quicksort(std::uint32_t n, const units& work)
      : n_(n), compare_(work.nanoseconds("sort.compare")), partition_(work.nanoseconds("sort.partition")) {}

  node root() const override { return {0, {n_, 1}}; }

  void at(node& self, unsigned phase, step& out) const override {
    const auto n = self.v[0], place = self.v[1];
    if (phase > 0) return out.ends(0);
    if (n <= 32) return out.ends(ps(compare_ * times_log2(n)));
    const std::uint64_t chance = random_at(place), more = random_at(chance), children = random_at(more);
    const auto a = static_cast<std::uint32_t>(chance), b = static_cast<std::uint32_t>(chance >> 32);
    const auto c = static_cast<std::uint32_t>(more);
    const std::uint32_t median = std::max(std::min(a, b), std::min(std::max(a, b), c));
    const auto left = static_cast<std::uint32_t>(std::uint64_t{median} * (n - 1) >> 32) + 1;
    out.forks(ps(partition_ * n), {0, {left, static_cast<std::uint32_t>(children)}},
              {0, {n - left, static_cast<std::uint32_t>(children >> 32)}});
  }

 private:
  const std::uint32_t n_;
  const double compare_, partition_;
};

// v: first block of rows, the one after the last.
class heat final : public kernel {
 public:
  heat(std::uint32_t n, const units& work) : n_(n), cell_(work.nanoseconds("heat.cell")) {}

  node root() const override { return {all_steps}; }

  void at(node& self, unsigned phase, step& out) const override {
    const std::uint32_t inner = n_ - 2, all = (inner + grain - 1) / grain;
    if (self.kind == all_steps) return phase < n_ ? out.calls(0, {blocks, {0, all}}) : out.ends(0);
    const std::uint32_t first = self.v[0], last = self.v[1], middle = first + (last - first) / 2;
    if (last - first == 1) return out.ends(ps(cell_ * std::min(grain, inner - first * grain) * n_));
    if (phase > 0) return out.ends(0);
    out.forks(0, {blocks, {first, middle}}, {blocks, {middle, last}}, {all, first, middle, last});
  }

 private:
  enum : std::uint32_t { all_steps, blocks };
  static constexpr std::uint32_t grain = 8;

  const std::uint32_t n_;
  const double cell_;
};

// v: points, or butterflies.
class fft final : public kernel {
 public:
  fft(std::uint32_t n, const units& work) : n_(n), butterfly_(work.nanoseconds("fft.butterfly")) {}

  node root() const override { return {whole, {n_}}; }

  void at(node& self, unsigned phase, step& out) const override {
    const std::uint32_t n = self.v[0], half = n - n / 2;
    if (self.kind == whole) {
      if (n <= leaf) return out.ends(ps(butterfly_ * times_log2(n) / 2));
      if (phase == 0) return out.forks(0, {whole, {half}}, {whole, {n - half}});
      return phase == 1 ? out.calls(0, {butterflies, {half}}) : out.ends(0);
    }
    if (n <= leaf_butterflies) return out.ends(ps(butterfly_ * n));
    return phase == 0 ? out.forks(0, {butterflies, {half}}, {butterflies, {n - half}}) : out.ends(0);
  }

 private:
  enum : std::uint32_t { whole, butterflies };
  static constexpr std::uint32_t leaf = 32, leaf_butterflies = 512;

  const std::uint32_t n_;
  const double butterfly_;
};

// Every point's iterations are counted once, when the kernel is made. v: first row, rows.
class mandelbrot final : public kernel {
 public:
  mandelbrot(std::uint32_t n, const units& work)
      : n_(n), iteration_(work.nanoseconds("mandelbrot.iteration")), iterations_(n) {
    for (std::uint32_t y = 0; y < n; ++y)
      for (std::uint32_t x = 0; x < n; ++x) iterations_[y] += iterations_of(x, y);
  }

  node root() const override { return {0, {0, n_}}; }

  void at(node& self, unsigned phase, step& out) const override {
    const auto first = self.v[0], rows = self.v[1];
    if (rows == 1) return out.ends(ps(iteration_ * static_cast<double>(iterations_[first])));
    if (phase > 0) return out.ends(0);
    const std::uint32_t middle = first + rows / 2, last = first + rows;
    out.forks(0, {0, {first, middle - first}}, {0, {middle, last - middle}}, {n_, first, middle, last});
  }

 private:
  std::uint64_t iterations_of(std::uint32_t x, std::uint32_t y) const {
    const double a = -2.0 + 3.0 * x / n_, b = -1.5 + 3.0 * y / n_;
    double re = 0, im = 0;
    std::uint64_t done = 0;
    for (; done < 1000 && re * re + im * im <= 4; ++done) {
      const double next = re * re - im * im + a;
      im = 2 * re * im + b;
      re = next;
    }
    return done;
  }

  const std::uint32_t n_;
  const double iteration_;
  std::vector<std::uint64_t> iterations_;
};

}  // namespace

made make_cilksort(long n, const units& work) {
  return std::make_unique<cilksort>(static_cast<std::uint32_t>(n), work);
}
made make_quicksort(long n, const units& work) {
  return std::make_unique<quicksort>(static_cast<std::uint32_t>(n), work);
}
made make_heat(long n, const units& work) { return std::make_unique<heat>(static_cast<std::uint32_t>(n), work); }
made make_fft(long n, const units& work) { return std::make_unique<fft>(static_cast<std::uint32_t>(n), work); }
made make_mandelbrot(long n, const units& work) {
  return std::make_unique<mandelbrot>(static_cast<std::uint32_t>(n), work);
}

}  // namespace simulate
