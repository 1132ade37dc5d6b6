// A kernel by every way, as Google Benchmarks named
//   <kernel>/<way>/<size>/procs:<P>
// All standard flags work; --procs=1,2,4 chooses the numbers of processors and --sizes=test, quick or full the sizes;
// --turn=1 and so on runs the ways in other orders, so that no way always runs after the same other one. The exit
// status is non-zero if any result was wrong. No benchmark asks for UseRealTime(): it would append "/real_time" to the
// name, and the time reported is the wall clock's anyway.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "bench/harness/command_line.hpp"
#include "bench/harness/kernel.hpp"

namespace {

std::atomic<bool> failed = false;

void fail(benchmark::State& state, const std::string& why) {
  failed = true;
  state.SkipWithError(why.c_str());
}

// Those of which each round has its own figure. They only grow.
constexpr std::string_view counted[] = {"steals", "join_waits", "late_ns", "on_top_ns"};

std::uint64_t value_of(std::string_view counter, const bench::counter_list& counters) {
  for (const auto& [name, value] : counters) {
    if (name == counter) return value;
  }
  return 0;
}

// Starts the workers, and ends at once.
bool warm_up(bench::team& team, const bench::kernel& kernel) {
  const long size = kernel.measured.test.front();
  team.prepare(size);
  team.reset();
  team.run();
  return team.result() == kernel.expected(size);
}

void measure(benchmark::State& state, const bench::kernel& kernel, const bench::way& way, long size, int procs) {
  try {
    const auto team = way.assemble(procs);
    const std::string run = std::string(kernel.name) + "(" + std::to_string(size) + ") by " + std::string(way.name) +
                            " on " + std::to_string(procs) + " P";
    if (!warm_up(*team, kernel)) return fail(state, run + ": wrong result while warming up, of the least test size");
    team->prepare(size);
    const std::uint64_t expected = kernel.expected(size);
    const bool resets = team->resets();
    const auto before = team->counters();
    for (auto _ : state) {
      if (resets) {
        state.PauseTiming();
        team->reset();
        state.ResumeTiming();
      }
      team->run();
      if (resets) state.PauseTiming();  // if the input is large, so is the work of reducing it to a digest
      const std::uint64_t result = team->result();
      if (resets) state.ResumeTiming();
      if (result != expected) {
        return fail(state, run + ": got " + std::to_string(result) + ", not " + std::to_string(expected));
      }
    }
    const auto after = team->counters();
    if (!after.empty()) {
      for (const std::string_view name : counted) {
        const std::uint64_t count = value_of(name, after) - value_of(name, before);
        state.counters[std::string(name)] =
            benchmark::Counter(static_cast<double>(count), benchmark::Counter::kAvgIterations);
      }
    }
  } catch (const std::exception& e) {
    fail(state, e.what());
  }
}

void register_benchmark(const bench::kernel& kernel, const bench::way& way, long size, int procs) {
  const std::string name = std::string(kernel.name) + '/' + std::string(way.name) + '/' + std::to_string(size) +
                           "/procs:" + std::to_string(procs);
  const auto run = [&kernel, way, size, procs](benchmark::State& state) { measure(state, kernel, way, size, procs); };
  benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
}

void register_all(const std::vector<int>& procs, std::span<const long> bench::sizes::* level, unsigned turn) {
  std::vector<bench::entry> entries = bench::entries();
  for (bench::entry& entry : entries) {
    std::erase_if(entry.ways, [](const bench::way& way) { return !way.measured; });
  }
  std::mt19937 dice(turn);
  for (bench::entry& entry : entries) {
    if (turn != 0) std::shuffle(entry.ways.begin(), entry.ways.end(), dice);
  }
  // By number of processors, so that ways that are compared run close together in time.
  for (const int p : procs) {
    for (const bench::entry& entry : entries) {
      for (const long size : entry.what->measured.*level) {
        for (const bench::way& way : entry.ways) {
          if (way.parallel || p == procs.front()) register_benchmark(*entry.what, way, size, way.parallel ? p : 1);
        }
      }
    }
  }
}

std::span<const long> bench::sizes::* parse_level(std::string_view text) {
  if (text == "test") return &bench::sizes::test;
  if (text == "quick") return &bench::sizes::quick;
  if (text == "full") return &bench::sizes::full;
  return nullptr;
}

const char* compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);

  std::vector<int> procs{1, 2};
  auto level = &bench::sizes::quick;
  unsigned turn = 0;
  constexpr std::string_view procs_flag = "--procs=", sizes_flag = "--sizes=", turn_flag = "--turn=";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg.starts_with(procs_flag)) {
      procs = bench::parse_procs(arg.substr(procs_flag.size()));
      if (!procs.empty()) continue;
      std::fprintf(stderr, "%s: expected numbers from 1 up, as in --procs=1,2\n", argv[i]);
      return 2;
    }
    if (arg.starts_with(sizes_flag)) {
      level = parse_level(arg.substr(sizes_flag.size()));
      if (level) continue;
      std::fprintf(stderr, "%s: expected --sizes=test, --sizes=quick or --sizes=full\n", argv[i]);
      return 2;
    }
    if (arg.starts_with(turn_flag)) {
      const auto given = bench::parse_number(arg.substr(turn_flag.size()), 0, 1'000'000);
      turn = static_cast<unsigned>(given.value_or(0));
      if (given) continue;
      std::fprintf(stderr, "%s: expected a number, as in --turn=1\n", argv[i]);
      return 2;
    }
    argv[kept++] = argv[i];
  }
  argc = kept;
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;

  benchmark::AddCustomContext("compiler", compiler());
  benchmark::AddCustomContext("flags", BENCH_FLAGS);
#ifdef FORKJOIN_DEBUG
  benchmark::AddCustomContext("assertions", "on");
#else
  benchmark::AddCustomContext("assertions", "off");
#endif
#ifdef BENCH_JOIN_RULE
  benchmark::AddCustomContext("join_rule", BENCH_JOIN_RULE);
#endif
#ifdef BENCH_STEAL_RULE
  benchmark::AddCustomContext("steal_rule", BENCH_STEAL_RULE);
#endif
  benchmark::AddCustomContext("oneTBB", BENCH_TBB);
  benchmark::AddCustomContext("OpenMP", BENCH_OPENMP);

  register_all(procs, level, turn);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return failed ? 1 : 0;
}
