// n days of a health system of 8,421 villages and 88,880 people.
#pragma once

#include <deque>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/health/algorithm.hpp"

namespace bench::health {

inline constexpr long small[] = {5};
inline constexpr long usual[] = {100};
inline constexpr long large[] = {365};

/// Digests as in problem::result, computed by another program.
inline std::uint64_t expected(long days) {
  switch (days) {
    case small[0]:
      return 62'936'591'195;
    case usual[0]:
      return 162'031'296'342;
    case large[0]:
      return 185'643'669'593;
  }
  throw std::invalid_argument("health: the size is 5, 100 or 365");
}

inline constexpr kernel description{
    .name = "health",
    .measured = {small, usual, large},
    .cut_off = false,
    .parallel = true,
    .expected = expected,
};

/// Makes a village and those below it. Each has a number, in the order of their making, and twice as many doctors as
/// one of the level below.
class founder {
 public:
  village found(int level) {
    const int doctors = 1 << (level - 1);
    village made{.level = level,
                 .random = number_++ << 32,
                 .free_doctors = doctors,
                 .healthy = {},
                 .waiting = {},
                 .examined = {},
                 .treated = {},
                 .sent_up = {},
                 .below = {}};
    if (level > 1) {
      made.below.reserve(villages_below);
      for (int i = 0; i < villages_below; ++i) made.below.push_back(found(level - 1));
    }
    return made;
  }

 private:
  std::uint64_t number_ = 0;
};

template <class Way>
class problem {
 public:
  explicit problem(long days) : days_(days) {}

  void reset() {
    top_ = std::make_unique<village>(founder().found(levels));
    everyone_.clear();
    settle(*top_);
  }
  void run() {
    for (long day = 0; day < days_; ++day) simulate_day<Way>(*top_);
  }
  std::uint64_t result() const {
    std::uint64_t sum = 0;
    std::uint64_t number = 0;
    add_to_digest(*top_, number, sum);
    return sum;
  }

 private:
  /// The villages lie still from now on, so people may come.
  void settle(village& v) {
    for (int i = 0; i < people_per_doctor << (v.level - 1); ++i) v.healthy.add(everyone_.emplace_back());
    for (village& lower : v.below) settle(lower);
  }

  static void add_to_digest(const village& v, std::uint64_t& number, std::uint64_t& sum) {
    std::uint64_t here = 0;
    std::uint64_t weight = 1;
    for (const people* list : {&v.healthy, &v.waiting, &v.examined, &v.treated, &v.sent_up}) {
      for (const person* one = list->first(); one != nullptr; one = one->next) {
        here += weight * (1 + 16 * static_cast<std::uint64_t>(one->hospitals) +
                          256 * static_cast<std::uint64_t>(one->days_waited) +
                          4096 * static_cast<std::uint64_t>(one->days_left));
      }
      weight += 2;
    }
    sum += here * (number++ % 1009 + 1);
    for (const village& lower : v.below) add_to_digest(lower, number, sum);
  }

  long days_;
  std::deque<person> everyone_;
  std::unique_ptr<village> top_;
};

}  // namespace bench::health
