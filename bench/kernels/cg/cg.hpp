// Conjugate gradient with n unknowns: systems are solved one after the other, in 20 iterations each, 1,000 iterations
// altogether or, for large n, so many that the work stays the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/cg/algorithm.hpp"
#include "bench/kernels/common/random.hpp"

namespace bench::cg {

inline constexpr long small[] = {10, 1000};
inline constexpr long usual[] = {100, 1024, 100'000};
inline constexpr long large[] = {10, 32, 100, 316, 1024, 3162, 10'000, 31'623, 100'000, 316'228, 1'000'000};

inline constexpr int iterations = 20;  // of a system: then no digit changes any more

inline constexpr kernel description{
    .name = "cg",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = false,
    .expected = [](long n) -> std::uint64_t {
      if (n < 2) throw std::invalid_argument("cg: the size is from 2 up");
      return static_cast<std::uint64_t>(n);  // the number of right unknowns
    },
    .over_loops = true,
};

template <class Way>
class problem {
 public:
  explicit problem(long size) : n_(size), b_(places()), x_(places()), r_(places()), p_(places() + 2), q_(places()) {
    for (std::size_t i = 0; i != places(); ++i) b_[i] = uniform_at(i);
  }

  void run() {
    for (long s = std::clamp(10'000'000 / (n_ * iterations), 1L, 50L); s > 0; --s)
      solve<Way>({b_.data(), x_.data(), r_.data(), p_.data() + 1, q_.data()}, n_, iterations);
  }

  std::uint64_t result() const {
    // Gauss's elimination of a tridiagonal matrix.
    std::vector<double> diagonal(places(), 4), right = b_;
    for (std::size_t i = 1; i != places(); ++i) {
      diagonal[i] -= 1 / diagonal[i - 1];
      right[i] += right[i - 1] / diagonal[i - 1];
    }
    std::uint64_t good = 0;
    double next = 0;
    for (std::size_t i = places(); i-- > 0;) {
      next = (right[i] + next) / diagonal[i];
      good += std::abs(x_[i] - next) < 1e-9;
    }
    return good;
  }

 private:
  std::size_t places() const { return static_cast<std::size_t>(n_); }

  long n_;
  std::vector<double> b_, x_, r_, p_, q_;
};

}  // namespace bench::cg
