// The common part of the ways to loop, reduce and scan: the inputs, and how a run is measured and checked. Each way has
// a source of its own, which registers its benchmarks as
//   for | reduce | least | scan / <way> / <n> / procs:<P>
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bench/algorithms/failure.hpp"

namespace bench {

inline constexpr std::size_t loop_size = 100'000'000;
inline constexpr std::size_t scan_size = 50'000'000;
inline constexpr std::size_t least_size = 4'000'000;

/// The least number of a sequence and its first place: a reduction by blocks, whose bodies are loops.
struct least {
  double value = std::numeric_limits<double>::infinity();
  std::size_t index = 0;

  friend least lesser(const least& a, const least& b) { return b.value < a.value ? b : a; }
};

inline least least_of(const double* all, std::size_t begin, std::size_t end, least found) {
  double value = found.value;
  std::size_t index = found.index;
  for (; begin != end; ++begin) {
    if (all[begin] < value) {
      value = all[begin];
      index = begin;
    }
  }
  return {value, index};
}

/// The operations of a way, with its workers. Made before the clock starts.
class loop_team {
 public:
  loop_team() = default;
  loop_team(const loop_team&) = delete;
  loop_team& operator=(const loop_team&) = delete;
  virtual ~loop_team() = default;

  virtual void add_one(std::vector<double>& all) = 0;
  virtual double sum(const std::vector<double>& all) = 0;
  virtual least find_least(const std::vector<double>& all) = 0;
  virtual void scan(const std::vector<double>& in, std::vector<double>& out) = 0;
};

/// The sequences that all ways work on, one after the other. (Sequences at different places in memory can differ in
/// speed.)
inline std::vector<double>& shared_sequence(int which, std::size_t n) {
  static std::vector<double> all[2];
  all[which].resize(n);
  return all[which];
}

/// Registers all four benchmarks of a way for these numbers of processors. The inputs are such that every result is
/// exact in any association.
template <class Make>
bool register_loops(const std::string& way, const std::vector<int>& procs, Make make) {
  const auto add = [&](const std::string& family, std::size_t n, int p, auto measure) {
    const std::string name = family + '/' + way + '/' + std::to_string(n) + "/procs:" + std::to_string(p);
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      const std::unique_ptr<loop_team> team = make(p);
      if (!measure(state, *team)) wrong_result(state, "wrong result");
    })->Unit(benchmark::kMillisecond);
  };
  for (const int p : procs) {
    add("for", loop_size, p, [](benchmark::State& state, loop_team& team) {
      std::vector<double>& all = shared_sequence(0, loop_size);
      std::ranges::fill(all, 1);
      double added = 1;
      for (auto _ : state) {
        team.add_one(all);
        ++added;
      }
      return std::ranges::count(all, added) == static_cast<std::ptrdiff_t>(loop_size);
    });
    add("reduce", loop_size, p, [](benchmark::State& state, loop_team& team) {
      std::vector<double>& all = shared_sequence(0, loop_size);
      std::ranges::fill(all, 2);
      bool right = true;
      for (auto _ : state) right &= team.sum(all) == 2.0 * loop_size;
      return right;
    });
    add("least", least_size, p, [](benchmark::State& state, loop_team& team) {
      std::vector<double>& all = shared_sequence(0, least_size);
      for (std::size_t i = 0; i != least_size; ++i) all[i] = static_cast<double>((i * 7'368'787 + 3) % least_size);
      const auto expected = static_cast<std::size_t>(std::ranges::min_element(all) - all.begin());
      bool right = true;
      for (auto _ : state) right &= team.find_least(all).index == expected;
      return right;
    });
    add("scan", scan_size, p, [](benchmark::State& state, loop_team& team) {
      std::vector<double>& in = shared_sequence(0, scan_size);
      std::vector<double>& out = shared_sequence(1, scan_size);
      std::ranges::fill(in, 3);
      std::ranges::fill(out, 0);
      for (auto _ : state) {
        team.scan(in, out);
        benchmark::ClobberMemory();
      }
      for (std::size_t i = 0; i != scan_size; ++i)
        if (out[i] != 3.0 * static_cast<double>(i + 1)) return false;
      return true;
    });
  }
  return true;
}

}  // namespace bench
