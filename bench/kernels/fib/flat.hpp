// A loop at the root, each iteration one fork of two empty leaves: what does a fork cost when the deque is empty before
// it?
#pragma once

#include "bench/harness/kernel.hpp"

namespace bench::flat {

constexpr long small[] = {1'000};
constexpr long usual[] = {1'000'000};

inline constexpr kernel description{
    .name = "flat",
    .measured = {small, usual, usual},
    .cut_off = false,
    .parallel = false,
    .expected = [](long count) { return 2 * static_cast<std::uint64_t>(count); },
    .forks = [](long count) { return static_cast<std::uint64_t>(count); },
};

// An empty leaf that no compiler sees through, so the compiler leaves out neither the leaf nor its result. Inlined: two
// calls an iteration would take as long as two calls with a fork, which a processor runs beside their jumps.
[[gnu::always_inline]] inline long leaf() {
  long one = 1;
  asm volatile("" : "+r"(one)::"memory");
  return one;
}

template <class Way>
long flat(long count) {
  long leaves = 0;
  for (long i = 0; i < count; ++i) {
    auto [a, b] = Way::fork([] { return leaf(); }, [] { return leaf(); });
    leaves += a + b;
  }
  return leaves;
}

template <class Way>
class problem {
 public:
  explicit problem(long size) : count_(size) {}
  void run() { result_ = flat<Way>(count_); }
  std::uint64_t result() const { return static_cast<std::uint64_t>(result_); }

 private:
  long count_;
  long result_ = 0;
};

}  // namespace bench::flat
