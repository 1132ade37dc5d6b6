#include "bench/harness/moment.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <span>
#include <thread>

#include "bench/harness/pin.hpp"

namespace bench {

namespace {

double mean_seconds(team& of, long runs) {
  std::chrono::steady_clock::duration sum{};
  for (long i = 0; i < runs; ++i) {
    of.reset();
    const auto start = std::chrono::steady_clock::now();
    of.run();
    sum += std::chrono::steady_clock::now() - start;
  }
  return std::chrono::duration<double>(sum).count() / static_cast<double>(runs);
}

// The time of the slowest. Each runs on a thread and a processor of its own, and all begin at once.
double slowest(std::span<const std::unique_ptr<team>> teams, long runs) {
  std::vector<double> seconds(teams.size());
  std::barrier begin(static_cast<std::ptrdiff_t>(teams.size()));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < teams.size(); ++i) {
      threads.emplace_back([&, i] {
        const pinned here(i);
        begin.arrive_and_wait();
        seconds[i] = mean_seconds(*teams[i], runs);
      });
    }
  }
  return std::ranges::max(seconds);
}

}  // namespace

moments::moments(const way& of, long size, int procs) : together_(of.assemble(procs)) {
  together_->prepare(size);
  static_cast<void>(mean_seconds(*together_, 1));  // starts the workers
  for (int i = 0; i < procs; ++i) {
    single_.push_back(of.assemble(1));
    single_.back()->prepare(size);
  }
  static_cast<void>(slowest(single_, 1));
}

moment moments::take(long runs) {
  const std::span all(single_);
  const std::span one = all.first(1);
  // Named, because the order in which arguments are evaluated is not specified.
  const double alone = slowest(one, runs);
  const double parallel = mean_seconds(*together_, runs);
  const double apart = slowest(all, runs);
  return {alone, parallel, apart, slowest(one, runs)};
}

std::vector<std::uint64_t> moments::results() {
  std::vector<std::uint64_t> found{together_->result()};
  for (const auto& single : single_) found.push_back(single->result());
  return found;
}

}  // namespace bench
