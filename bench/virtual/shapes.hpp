// Trees of forks whose work is to sleep, or to compute as long. A P whose strand sleeps needs no processor, so many P
// behave on few cores as if each had its own: what a policy makes of a tree shows, and what its forks cost does not.
#pragma once

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "bench/harness/work.hpp"

namespace shapes {

/// In equal parts, as Fibonacci numbers are split, or one leaf and the rest: a chain.
enum class split { equal, larger_first, larger_second, leaf_first, leaf_second };

/// What a node does after its join, in units of a leaf's work.
enum class after { nothing, share, constant, root, branches };

struct shape {
  std::string_view name;
  split of;
  after work;
  unsigned children = 2;  ///< of a node; fewer, a power of two, where there are fewer leaves
};

inline constexpr std::array<shape, 13> all = {{
    {"even", split::equal, after::nothing},
    {"uneven", split::larger_first, after::nothing},
    {"heavy root", split::equal, after::root},
    {"mergesort", split::equal, after::share},     // a merge of what lies below
    {"reduction", split::equal, after::constant},  // of large values
    {"heavy branches", split::equal, after::branches},
    {"larger first", split::larger_first, after::constant},
    {"larger second", split::larger_second, after::constant},
    {"chain", split::leaf_first, after::nothing},
    {"mirrored chain", split::leaf_second, after::nothing},
    {"4 children", split::equal, after::nothing, 4},
    {"8 children", split::equal, after::nothing, 8},
    {"64 children", split::equal, after::nothing, 64},
}};

/// Whether more than one way to write a node's children is of interest: all shapes of equal parts with nothing after
/// joins.
constexpr bool has_groups(const shape& of) { return of.of == split::equal && of.work == after::nothing; }

/// Of a tree with so many leaves, in units of a leaf: all of it, and the longest path.
struct size {
  double work, span;
};

class tree {
 public:
  /// `unit_us`: microseconds of a leaf. `sleeps`: else it computes.
  tree(const shape& of, long leaves, double unit_us, bool sleeps)
      : shape_(of), leaves_(leaves), unit_us_(unit_us), sleeps_(sleeps) {}

  size measure() const { return measure(leaves_); }

  /// Way::fork(f, g) runs both, Way::children(n, f) runs f(0) to f(n - 1), n a power of two from 4 to 64.
  template <class Way>
  void run() const {
    node<Way>(leaves_);
  }

 private:
  long left(long leaves) const {
    if (shape_.of == split::equal) return leaves / 2;
    if (shape_.of == split::leaf_first) return 1;
    if (shape_.of == split::leaf_second) return leaves - 1;
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

  long children(long leaves) const {
    long n = shape_.children;
    while (n > leaves) n /= 2;
    return n;
  }

  /// Of that child.
  static long part(long leaves, long children, long i) { return leaves * (i + 1) / children - leaves * i / children; }

  size measure(long leaves) const {
    if (leaves == 1) return {1, 1};
    size all{0, 0};
    const auto add = [&all](const size& child) { all = {all.work + child.work, std::max(all.span, child.span)}; };
    if (const long n = children(leaves); n > 2) {
      for (long i = 0; i != n; ++i) add(measure(part(leaves, n, i)));
    } else {
      add(measure(left(leaves)));
      add(measure(leaves - left(leaves)));
    }
    const double own = units_after(leaves);
    return {all.work + own, all.span + own};
  }

  template <class Way>
  void node(long leaves) const {
    if (leaves == 1) return work<Way>(1);
    if (const long n = children(leaves); n > 2) {
      Way::children(n, [this, leaves, n](long i) { node<Way>(part(leaves, n, i)); });
    } else {
      const long first = left(leaves);
      Way::fork([this, first] { node<Way>(first); }, [this, rest = leaves - first] { node<Way>(rest); });
    }
    work<Way>(units_after(leaves));
  }

  template <class Way>
  void work(double units) const {
    if constexpr (bench::counts_work<Way>) return Way::work(bench::unit::tree_leaf, units);
    const auto ns = static_cast<std::int64_t>(units * unit_us_ * 1000);
    if (ns == 0) return;
    sleeps_ ? sleep_ns(ns) : compute_ns(ns);
  }

  // Else the system may wake the thread 50 us late.
  static void sleep_ns(std::int64_t ns) {
    static thread_local const int slack = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    static_cast<void>(slack);
    const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
    nanosleep(&time, nullptr);
  }

  static void compute_ns(std::int64_t ns) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(ns);
    while (std::chrono::steady_clock::now() < end) {}
  }

  const shape shape_;
  const long leaves_;
  const double unit_us_;
  const bool sleeps_;
};

}  // namespace shapes
