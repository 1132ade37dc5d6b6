// Trees of forks whose work is to sleep, or to compute as long. A P whose strand sleeps needs no processor, so many P behave on few
// cores as if each had its own: what a policy makes of a tree shows, and what its forks cost does not.
#pragma once

#include <sys/prctl.h>
#include <time.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "bench/harness/work.hpp"

namespace shapes {

/// In halves, or as Fibonacci numbers are split.
enum class split { halves, larger_first, larger_second };

/// What a node does after its join, in units of a leaf's work.
enum class after { nothing, share, constant, root, branches };

struct shape {
  std::string_view name;
  split of;
  after work;
};

inline constexpr std::array<shape, 8> all = {{
    {"even", split::halves, after::nothing},
    {"uneven", split::larger_first, after::nothing},
    {"heavy root", split::halves, after::root},
    {"mergesort", split::halves, after::share},     // a merge of what lies below
    {"reduction", split::halves, after::constant},  // of large values
    {"heavy branches", split::halves, after::branches},
    {"larger first", split::larger_first, after::constant},
    {"larger second", split::larger_second, after::constant},
}};

/// Of a tree with so many leaves, in units of a leaf: all of it, and the longest path.
struct size {
  double work, span;
};

class tree {
 public:
  /// `unit_us`: microseconds of a leaf. `sleeps`: else it computes.
  tree(const shape& of, long leaves, long unit_us, bool sleeps)
      : shape_(of), leaves_(leaves), unit_us_(unit_us), sleeps_(sleeps) {}

  size measure() const { return measure(leaves_); }

  /// Way::fork(f, g) runs both.
  template <class Way>
  void run() const {
    node<Way>(leaves_);
  }

 private:
  long left(long leaves) const {
    if (shape_.of == split::halves) return leaves / 2;
    const long part = static_cast<long>(0.618 * static_cast<double>(leaves) + 0.5);
    const long larger = part == leaves ? leaves - 1 : part;
    return shape_.of == split::larger_first ? larger : leaves - larger;
  }

  double units_after(long leaves) const {
    switch (shape_.work) {
      case after::nothing:
        return 0;
      case after::share:
        return static_cast<double>(leaves) / 32;
      case after::constant:
        return 0.5;
      case after::root:
        return leaves == leaves_ ? 8 : 0;
      case after::branches:  // of the four nodes two levels below the root
        return 4 * leaves == leaves_ ? 8 : 0;
    }
    return 0;
  }

  size measure(long leaves) const {
    if (leaves == 1) return {1, 1};
    const long first = left(leaves);
    const size a = measure(first), b = measure(leaves - first);
    const double own = units_after(leaves);
    return {a.work + b.work + own, (a.span > b.span ? a.span : b.span) + own};
  }

  template <class Way>
  void node(long leaves) const {
    if (leaves == 1) return work<Way>(1);
    const long first = left(leaves);
    Way::fork([this, first] { node<Way>(first); }, [this, rest = leaves - first] { node<Way>(rest); });
    work<Way>(units_after(leaves));
  }

  template <class Way>
  void work(double units) const {
    if constexpr (bench::counts_work<Way>) return Way::work(bench::unit::tree_leaf, units);
    const auto us = static_cast<std::int64_t>(units * static_cast<double>(unit_us_));
    if (us == 0) return;
    sleeps_ ? sleep_us(us) : compute_us(us);
  }

  // Else the system may wake the thread 50 us late.
  static void sleep_us(std::int64_t us) {
    static thread_local const int slack = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    static_cast<void>(slack);
    const timespec time{us / 1'000'000, us % 1'000'000 * 1000};
    nanosleep(&time, nullptr);
  }

  static void compute_us(std::int64_t us) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
    while (std::chrono::steady_clock::now() < end) {}
  }

  const shape shape_;
  const long leaves_, unit_us_;
  const bool sleeps_;
};

}  // namespace shapes
