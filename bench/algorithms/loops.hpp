// What the ways to loop, reduce and scan have in common: the inputs, and how one run is measured and checked. Each way
// stands in a source of its own and registers its benchmarks itself, as
//   for | reduce | scan / <way> / <n> / procs:<P>
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bench {

inline constexpr std::size_t loop_size = 100'000'000;
inline constexpr std::size_t scan_size = 50'000'000;

/// What a way does, with its workers: made before the clock starts.
class loop_team {
 public:
  loop_team() = default;
  loop_team(const loop_team&) = delete;
  loop_team& operator=(const loop_team&) = delete;
  virtual ~loop_team() = default;

  virtual void add_one(std::vector<double>& all) = 0;
  virtual double sum(const std::vector<double>& all) = 0;
  virtual void scan(const std::vector<double>& in, std::vector<double>& out) = 0;
};

/// Registers all three benchmarks of a way for these numbers of processors. The inputs are such that every result is exact
/// in any association.
template <class Make>
bool register_loops(const std::string& way, const std::vector<int>& procs, Make make) {
  const auto add = [&](const std::string& family, std::size_t n, int p, auto measure) {
    const std::string name = family + '/' + way + '/' + std::to_string(n) + "/procs:" + std::to_string(p);
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      const std::unique_ptr<loop_team> team = make(p);
      if (!measure(state, *team)) state.SkipWithError("wrong result");
    })->Unit(benchmark::kMillisecond);
  };
  for (const int p : procs) {
    add("for", loop_size, p, [](benchmark::State& state, loop_team& team) {
      std::vector<double> all(loop_size, 1);
      double added = 1;
      for (auto _ : state) {
        team.add_one(all);
        ++added;
      }
      return all.front() == added && all.back() == added;
    });
    add("reduce", loop_size, p, [](benchmark::State& state, loop_team& team) {
      const std::vector<double> all(loop_size, 2);
      bool right = true;
      for (auto _ : state) right &= team.sum(all) == 2.0 * loop_size;
      return right;
    });
    add("scan", scan_size, p, [](benchmark::State& state, loop_team& team) {
      const std::vector<double> in(scan_size, 3);
      std::vector<double> out(scan_size);
      for (auto _ : state) {
        team.scan(in, out);
        benchmark::ClobberMemory();
      }
      return out.front() == 3 && out.back() == 3.0 * scan_size;
    });
  }
  return true;
}

}  // namespace bench
