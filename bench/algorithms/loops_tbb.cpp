// The baseline: oneTBB's loops. The arena limits the threads that work on it, the global control the threads of the
// process.
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/task_arena.h>

#include <functional>
#include <numeric>

#include "bench/algorithms/loops.hpp"

namespace {

class team final : public bench::loop_team {
 public:
  explicit team(int procs)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(procs)), arena_(procs) {}

  void add_one(std::vector<double>& all) override {
    double* const begin = all.data();
    arena_.execute([&] {
      tbb::parallel_for(range(0, all.size()), [=](const range& part) {
        for (std::size_t i = part.begin(); i != part.end(); ++i) begin[i] += 1;
      });
    });
  }

  double sum(const std::vector<double>& all) override {
    const double* const begin = all.data();
    return arena_.execute([&] {
      return tbb::parallel_reduce(
          range(0, all.size()), 0.0,
          [=](const range& part, double sum) { return std::reduce(begin + part.begin(), begin + part.end(), sum); },
          std::plus<>());
    });
  }

  bench::least find_least(const std::vector<double>& all) override {
    const auto body = [from = all.data()](const range& part, bench::least found) {
      return bench::least_of(from, part.begin(), part.end(), found);
    };
    const auto join = [](const bench::least& a, const bench::least& b) { return lesser(a, b); };
    return arena_.execute([&] { return tbb::parallel_reduce(range(0, all.size()), bench::least(), body, join); });
  }

  void scan(const std::vector<double>& in, std::vector<double>& out) override {
    const double* const from = in.data();
    double* const to = out.data();
    arena_.execute([&] {
      tbb::parallel_scan(
          range(0, in.size()), 0.0,
          [=](const range& part, double sum, bool is_final) {
            for (std::size_t i = part.begin(); i != part.end(); ++i) {
              sum += from[i];
              if (is_final) to[i] = sum;
            }
            return sum;
          },
          std::plus<>());
    });
  }

 private:
  using range = tbb::blocked_range<std::size_t>;
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

[[maybe_unused]] const bool registered =
    bench::register_loops("tbb", {1, 2}, [](int procs) { return std::make_unique<team>(procs); });

}  // namespace
