// Loops, sums and scans by this library and by plain code.
#include <forkjoin/forkjoin.hpp>
#include <functional>
#include <numeric>

#include "bench/algorithms/loops.hpp"

namespace {

class serial final : public bench::loop_team {
 public:
  void add_one(std::vector<double>& all) override {
    double* const begin = all.data();
    for (std::size_t i = 0, n = all.size(); i != n; ++i) begin[i] += 1;
  }
  double sum(const std::vector<double>& all) override { return std::reduce(all.begin(), all.end()); }
  bench::least find_least(const std::vector<double>& all) override {
    return bench::least_of(all.data(), 0, all.size(), {});
  }
  void scan(const std::vector<double>& in, std::vector<double>& out) override {
    std::inclusive_scan(in.begin(), in.end(), out.begin());
  }
};

class parallel final : public bench::loop_team {
 public:
  explicit parallel(int procs) : runtime_{fj::options{.procs = static_cast<unsigned>(procs)}} {}

  void add_one(std::vector<double>& all) override {
    double* const begin = all.data();
    runtime_.run([&] { fj::parallel_for(std::size_t(0), all.size(), [=](std::size_t i) { begin[i] += 1; }); });
  }
  double sum(const std::vector<double>& all) override {
    return runtime_.run([&] { return fj::parallel_reduce(all, 0.0, std::plus<>()); });
  }
  bench::least find_least(const std::vector<double>& all) override {
    const auto body = [from = all.data()](std::size_t begin, std::size_t end, bench::least found) {
      return bench::least_of(from, begin, end, found);
    };
    const auto join = [](const bench::least& a, const bench::least& b) { return lesser(a, b); };
    return runtime_.run([&] { return fj::parallel_reduce(std::size_t(0), all.size(), bench::least(), body, join); });
  }
  void scan(const std::vector<double>& in, std::vector<double>& out) override {
    runtime_.run([&] { fj::parallel_scan(in, out.begin()); });
  }

 private:
  fj::runtime runtime_;
};

[[maybe_unused]] const bool registered =
    bench::register_loops("serial", {1}, [](int) { return std::make_unique<serial>(); }) &&
    bench::register_loops("continuations", {1, 2}, [](int procs) { return std::make_unique<parallel>(procs); });

}  // namespace
