// The algorithms as Google Benchmarks; each source registers its own. The exit status is non-zero if any result was
// wrong.
#include <benchmark/benchmark.h>

#include "bench/algorithms/failure.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return bench::any_wrong_result ? 1 : 0;
}
