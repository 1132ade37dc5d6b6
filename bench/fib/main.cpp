// fib without cut-off and a flat loop of forks, by every way, as Google Benchmarks named
//   fib/<way>/<n>/procs:<P>  and  flat/<way>/<count>/procs:<P>
// All standard flags work; --procs=1,2,4 chooses the numbers of processors. The exit status is non-zero if any result
// was wrong. No benchmark asks for UseRealTime(): it would append "/real_time" to the name, and the time reported is the
// wall clock's anyway.
#include <benchmark/benchmark.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <exception>
#include <string>

#include "bench/fib/way.hpp"

namespace {

constexpr int fib_n = 35;
constexpr long flat_count = 1'000'000;
constexpr int warm_up_n = 20;  // starts the workers, and is over in a millisecond

std::atomic<bool> failed = false;

void fail(benchmark::State& state, const std::string& why) {
  failed = true;
  state.SkipWithError(why.c_str());
}

std::uint64_t steals_of(const bench::counter_list& counters) {
  for (const auto& [name, value] : counters) {
    if (name == "steals") return value;
  }
  return 0;
}

template <class Compute>
void measure(benchmark::State& state, const bench::way& w, int procs, long expected, Compute compute) {
  try {
    const auto team = w.assemble(procs);
    if (team->fib(warm_up_n) != bench::expected_fib(warm_up_n)) return fail(state, "wrong result while warming up");
    const auto before = team->counters();
    for (auto _ : state) {
      const long result = compute(*team);
      if (result != expected) {
        return fail(state, "got " + std::to_string(result) + ", not " + std::to_string(expected));
      }
    }
    const auto after = team->counters();
    if (!after.empty()) {
      state.counters["steals"] = benchmark::Counter(static_cast<double>(steals_of(after) - steals_of(before)),
                                                    benchmark::Counter::kAvgIterations);
    }
  } catch (const std::exception& e) {
    fail(state, e.what());
  }
}

std::string name_of(std::string_view family, const bench::way& w, long size, int procs) {
  return std::string(family) + '/' + std::string(w.name) + '/' + std::to_string(size) +
         "/procs:" + std::to_string(procs);
}

void register_way(const bench::way& w, int procs) {
  const auto fib = [w, procs](benchmark::State& state) {
    measure(state, w, procs, bench::expected_fib(fib_n), [](bench::team& t) {
      int n = fib_n;
      benchmark::DoNotOptimize(n);
      return t.fib(n);
    });
  };
  benchmark::RegisterBenchmark(name_of("fib", w, fib_n, procs).c_str(), fib)->Unit(benchmark::kMillisecond);

  const auto flat = [w, procs](benchmark::State& state) {
    measure(state, w, procs, bench::expected_flat(flat_count), [](bench::team& t) { return t.flat(flat_count); });
  };
  benchmark::RegisterBenchmark(name_of("flat", w, flat_count, procs).c_str(), flat)->Unit(benchmark::kMillisecond);
}

bool parse_procs(std::string_view text, std::vector<int>& procs) {
  procs.clear();
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int p = 0;
    const auto [rest, error] = std::from_chars(at, end, p);
    if (error != std::errc{} || p < 1) return false;
    procs.push_back(p);
    if (rest == end) return true;
    if (*rest != ',') return false;
    at = rest + 1;
  }
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
  constexpr std::string_view procs_flag = "--procs=";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (!arg.starts_with(procs_flag)) {
      argv[kept++] = argv[i];
    } else if (!parse_procs(arg.substr(procs_flag.size()), procs)) {
      std::fprintf(stderr, "%s: expected numbers from 1 up, as in --procs=1,2\n", argv[i]);
      return 2;
    }
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
  benchmark::AddCustomContext("oneTBB", bench::tbb_description());

  // By number of processors, so that what is compared with each other runs close together in time.
  for (const int p : procs) {
    for (const bench::way& w : bench::all_ways()) {
      if (w.parallel || p == procs.front()) register_way(w, w.parallel ? p : 1);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return failed ? 1 : 0;
}
