// Sorting by this library and by std.
#include <forkjoin/forkjoin.hpp>

#include "bench/algorithms/sort_inputs.hpp"

namespace {

using bench::sort_input;

struct by_std {
  void sort(sort_input& all) { std::sort(all.begin(), all.end()); }
};

// The standard library's stable_sort uses a function that it calls deprecated, and clang warns its users.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct stable_by_std {
  void sort(sort_input& all) { std::stable_sort(all.begin(), all.end()); }
};

struct parallel {
  fj::runtime runtime;
  void sort(sort_input& all) {
    runtime.run([&] { fj::parallel_sort(all); });
  }
};

struct stable_parallel {
  fj::runtime runtime;
  void sort(sort_input& all) {
    runtime.run([&] { fj::parallel_stable_sort(all); });
  }
};

template <class Team>
auto with_procs(int p) {
  return std::unique_ptr<Team>(new Team{fj::runtime({.procs = static_cast<unsigned>(p)})});
}

[[maybe_unused]] const bool registered =
    bench::register_sort("sort", "serial", {1}, [](int) { return std::make_unique<by_std>(); }) &&
    bench::register_sort("sort", "continuations", {1, 2}, with_procs<parallel>) &&
    bench::register_sort("stable_sort", "serial", {1}, [](int) { return std::make_unique<stable_by_std>(); }) &&
    bench::register_sort("stable_sort", "continuations", {1, 2}, with_procs<stable_parallel>);

}  // namespace
