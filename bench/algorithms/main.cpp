// The algorithms as Google Benchmarks; each source registers its own.
#include <benchmark/benchmark.h>

BENCHMARK_MAIN();
