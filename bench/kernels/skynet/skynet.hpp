// A tree with ten children at each node; the leaves are numbered from 0, and each node returns the sum of its
// children's.
#pragma once

#include <stdexcept>

#include "bench/harness/kernel.hpp"
#include "bench/harness/work.hpp"

namespace bench::skynet {

constexpr long small[] = {1'000};
constexpr long usual[] = {1'000'000};
constexpr long large[] = {1'000'000, 10'000'000};

constexpr std::uint64_t expected(long leaves) {
  long power = 1;
  while (power < leaves && power < 1'000'000'000) power *= 10;
  if (power != leaves) throw std::invalid_argument("skynet: the size is a power of ten up to 1,000,000,000");
  return static_cast<std::uint64_t>(leaves) * static_cast<std::uint64_t>(leaves - 1) / 2;
}

inline constexpr kernel description{
    .name = "skynet",
    .measured = {small, usual, large},
    .cut_off = false,
    .parallel = true,
    .expected = expected,
    .forks = [](long leaves) { return static_cast<std::uint64_t>(leaves - 1); },
};

template <class Way>
long skynet(long first, long leaves) {
  if constexpr (counts_work<Way>) Way::work(unit::skynet_call, 1);
  if (leaves == 1) return first;
  leaves /= 10;
  return Way::children(10, 0L, [=](int i) { return skynet<Way>(first + i * leaves, leaves); });
}

template <class Way>
class problem {
 public:
  explicit problem(long size) : leaves_(size) {}
  void run() { result_ = skynet<Way>(0, leaves_); }
  std::uint64_t result() const { return static_cast<std::uint64_t>(result_); }

 private:
  long leaves_;
  long result_ = 0;
};

}  // namespace bench::skynet
