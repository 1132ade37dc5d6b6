// Remembers wrong results: Google Benchmark prints them, but its exit status is 0 then, too.
#pragma once

#include <benchmark/benchmark.h>

namespace bench {

inline bool any_wrong_result = false;

inline void wrong_result(benchmark::State& state, const char* what) {
  any_wrong_result = true;
  state.SkipWithError(what);
}

}  // namespace bench
