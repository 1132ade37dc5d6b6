// Brief scans and loops that follow each other closely, within the runtime or arena: what one of them takes. The kinds
// of questions (harness/asked.hpp):
//
//   exclusive   an exclusive scan of n longs
//   inclusive   an inclusive scan of n doubles
//   loop        a loop over n doubles, which takes the root of each
//
// All lengths of a kind use the same type of body: a library that learns what a body costs has to do so for many
// lengths.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/asked.hpp"

namespace bench {

/// The input of a kind, kept until another length is asked for. Small integers: sums of doubles are exact in any order.
template <class T>
class problem {
 public:
  void set(std::size_t n) {
    if (n != from_.size()) {
      from_.resize(n);
      for (std::size_t i = 0; i < n; ++i) from_[i] = static_cast<T>(i % 7 + 1);
    }
    to_.assign(n, T(-1));
  }

  /// call(from, to, n), and expected(i, from[i]) is what it should write, asked for in order of i.
  template <class Team, class Call, class Expected>
  double measure(Team& team, const Call& call, Expected expected) {
    double ns = 0;
    const T* const from = from_.data();
    T* const to = to_.data();
    team.within([&] { ns = bench::ns_of([&] { call(from, to, from_.size()); }); });
    for (std::size_t i = 0; i < from_.size(); ++i) {
      if (to[i] != expected(from[i])) return -1;
    }
    return ns;
  }

 private:
  std::vector<T> from_;
  std::vector<T> to_;
};

/// team.within(f) calls f in the runtime or arena.
template <class Team>
double call_of(Team& team, const std::string& kind, std::size_t n) {
  static problem<long> longs;
  static problem<double> doubles;
  if constexpr (requires { &Team::exclusive; }) {
    if (kind == "exclusive") {
      longs.set(n);
      return longs.measure(team, &Team::exclusive, [sum = 0L](long x) mutable { return std::exchange(sum, sum + x); });
    }
    if (kind == "inclusive") {
      doubles.set(n);
      return doubles.measure(team, &Team::inclusive, [sum = 0.0](double x) mutable { return sum += x; });
    }
  }
  doubles.set(n);
  return kind == "loop" ? doubles.measure(team, &Team::roots, [](double x) { return std::sqrt(x); }) : -1;
}

}  // namespace bench
