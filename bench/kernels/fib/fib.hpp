// Recursive Fibonacci numbers: a fork for every call with n > 1 and no cut-off, so the time is the forks' cost.
#pragma once

#include <stdexcept>

#include "bench/harness/kernel.hpp"
#include "bench/harness/work.hpp"

namespace bench::fib {

constexpr long small[] = {20};
constexpr long usual[] = {35};
constexpr long large[] = {42};

constexpr std::uint64_t expected(long n) {
  if (n < 0 || n > 92) throw std::invalid_argument("fib: the size is from 0 to 92");
  std::uint64_t a = 0;
  std::uint64_t b = 1;
  for (; n > 0; --n) a = std::exchange(b, a + b);
  return a;
}
static_assert(expected(35) == 9'227'465);

constexpr std::uint64_t forks(long n) { return expected(n + 1) - 1; }

inline constexpr kernel description{
    .name = "fib",
    .measured = {small, usual, large},
    .cut_off = false,
    .parallel = true,
    .expected = expected,
    .forks = forks,
};

template <class Way>
long fib(int n) {
  if constexpr (counts_work<Way>) Way::work(unit::fib_call, 1);
  if (n < 2) return n;
  if constexpr (Way::is_serial) {
    return fib<Way>(n - 1) + fib<Way>(n - 2);
  } else {
    auto [a, b] = Way::fork([=] { return fib<Way>(n - 1); }, [=] { return fib<Way>(n - 2); });
    return a + b;
  }
}

template <class Way>
class problem {
 public:
  explicit problem(long size) : n_(static_cast<int>(size)) {}
  void run() { result_ = fib<Way>(n_); }
  std::uint64_t result() const { return static_cast<std::uint64_t>(result_); }

 private:
  int n_;
  long result_ = 0;
};

}  // namespace bench::fib
