// The common part of the ways to sort: the inputs, and how one sort is measured. Each way has a source of its own,
// which registers its benchmarks as sort_<input>/<way>/<n>/procs:<P>.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/algorithms/failure.hpp"
#include "bench/kernels/common/sort_check.hpp"

namespace bench {

using sort_input = std::vector<std::uint64_t>;

inline constexpr std::size_t sort_size = 10'000'000;
inline constexpr const char* sort_kinds[] = {"random", "sorted", "reversed", "few_distinct"};

// All ways work on the same memory, one after the other. (Memory at different places can differ in speed.)

inline const sort_input& shared_sort_input(const std::string& kind) {
  static std::map<std::string, sort_input> inputs;
  sort_input& all = inputs[kind];
  if (!all.empty()) return all;
  std::mt19937_64 random(1);
  all.resize(sort_size);
  for (std::size_t i = 0; i != sort_size; ++i)
    all[i] = kind == "random" ? random() : kind == "sorted" ? i : kind == "reversed" ? sort_size - i : random() % 16;
  return all;
}

inline sort_input& sort_room() {
  static sort_input sorted(sort_size);
  return sorted;
}

/// Registers a way for every input and each of these numbers of processors. Make(procs) is a team whose sort(vector)
/// does the work. The team is made, and the input copied, while the clock is stopped.
template <class Make>
bool register_sort(const std::string& family, const std::string& way, const std::vector<int>& procs, Make make) {
  for (const int p : procs) {
    for (const std::string kind : sort_kinds) {
      const auto run = [=](benchmark::State& state) {
        const auto team = make(p);
        const sort_input& input = shared_sort_input(kind);
        sort_input& sorted = sort_room();
        for (auto _ : state) {
          state.PauseTiming();
          std::copy(input.begin(), input.end(), sorted.begin());
          state.ResumeTiming();
          team->sort(sorted);
        }
        const auto at = [&](const sort_input& all) { return [&](std::uint64_t i) { return all[i]; }; };
        if (!std::is_sorted(sorted.begin(), sorted.end())) wrong_result(state, "not sorted");
        if (digest_of_numbers(sort_size, at(sorted)) != digest_of_numbers(sort_size, at(input)))
          wrong_result(state, "not the numbers that were given");
      };
      const std::string name = family + '_' + kind + '/' + way + '/' + std::to_string(sort_size) + "/procs:";
      benchmark::RegisterBenchmark((name + std::to_string(p)).c_str(), run)->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}

}  // namespace bench
