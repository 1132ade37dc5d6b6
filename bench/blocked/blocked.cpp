// Branches that block: n of them wait at once, each for a channel, or in a call of another runtime's run.
//
//   blocked [--check] [n...]     n: 1000 2000 4000 10000
//
// For each way to block, each number of Ps and each n, the median of some rounds:
//   block    from the moment at which a branch starts until the next one starts: the median of the means over 100
//            branches in turn. So it leaves out the moments in which other programs have the processor
//   whole    the time of the loop that starts the n branches, until all have come back and been joined, over n
//   start    from the moment at which a branch is about to block until its continuation, the next branch, starts
//   forced   deques whose records a thief had to make public by force
// In the lines `memory` no branch runs: 25 cache lines in a page for each branch, as far from one another as such
// stacks, are written to. So these lines tell how much of the growth is the machine's.
// --check: exits with 1 unless for each way and P block grows by at most 1.5 times from the smallest n to the largest,
// start is at most 5 us, and nothing was forced.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <memory>
#include <vector>

#include "forkjoin/fork_each.hpp"
#include "forkjoin/go/channel.hpp"
#include "forkjoin/run.hpp"

namespace {

constexpr int rounds = 5;
constexpr std::size_t span_of_mean = 100;
constexpr double most_growth = 1.5;
constexpr double most_start_us = 5;

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double>& of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

// The ways to block until n branches have come.

class for_channel {
 public:
  for_channel(fj::runtime&, int n) : missing_(n) {}

  void come() {
    if (missing_.fetch_sub(1) == 1) all_have_come_.close();
  }
  void block() const { static_cast<void>(all_have_come_.receive()); }

 private:
  std::atomic<int> missing_;
  const fj::channel<int> all_have_come_{0};
};

class in_run {
 public:
  in_run(fj::runtime& there, int n) : there_(there), all_have_come_(n) {}

  void come() { all_have_come_.count_down(); }
  void block() {
    there_.run([this] { all_have_come_.wait(); });
  }

 private:
  fj::runtime& there_;
  std::latch all_have_come_;
};

struct figures {
  double block = 0, whole = 0, start = 0;
  std::uint64_t forced = 0;
};

template <class Way>
figures measure_round(fj::runtime& here, fj::runtime& there, int n) {
  Way way(there, n);
  std::vector<double> began(static_cast<std::size_t>(n)), blocks(static_cast<std::size_t>(n));
  const std::uint64_t forced_before = here.stats().total().exposures;
  const double begin = now_us();
  here.run([&] {
    fj::fork_each(0, n, [&](int i) {
      const auto at = static_cast<std::size_t>(i);
      began[at] = now_us();
      way.come();
      blocks[at] = now_us();
      way.block();
    });
  });
  const double end = now_us();
  figures found;
  found.whole = (end - begin) / n;
  // The branches start one after another: each is the continuation of the one before.
  std::vector<double> means;
  const std::size_t span = std::min(span_of_mean, began.size() - 1);
  for (std::size_t i = span; i < began.size(); i += span)
    means.push_back((began[i] - began[i - span]) / static_cast<double>(span));
  found.block = median(means);
  std::vector<double> starts;
  for (std::size_t i = 1; i < began.size(); ++i) starts.push_back(std::max(0.0, began[i] - blocks[i - 1]));
  found.start = median(starts);
  found.forced = here.stats().total().exposures - forced_before;
  return found;
}

template <class Way>
figures measure(fj::runtime& here, fj::runtime& there, int n) {
  std::vector<double> block, whole, start;
  figures found;
  for (int round = 0; round < rounds; ++round) {
    const figures once = measure_round<Way>(here, there, n);
    block.push_back(once.block);
    whole.push_back(once.whole);
    start.push_back(once.start);
    found.forced += once.forced;
  }
  found.block = median(block);
  found.whole = median(whole);
  found.start = median(start);
  return found;
}

// What it takes to write to as much memory as n waiting branches use, in turn.
void measure_memory(const std::vector<int>& counts) {
  constexpr std::size_t stack = std::size_t{64} << 10, page = std::size_t{4} << 10, line = 64, lines = 25;
  const auto most = static_cast<std::size_t>(counts.back());
  const std::unique_ptr<std::byte[]> memory(new std::byte[(most + 1) * stack]);  // untouched pages take none
  std::byte* const begin = memory.get() + (page - reinterpret_cast<std::uintptr_t>(memory.get()) % page);
  for (const int n : counts) {
    std::vector<double> rounds_us;
    for (int round = 0; round <= rounds; ++round) {
      const double start = now_us();
      for (std::size_t at = 0; at < static_cast<std::size_t>(n); ++at)
        for (std::size_t i = 0; i < lines; ++i) static_cast<volatile std::byte*>(begin)[at * stack + i * line] = {};
      if (round > 0) rounds_us.push_back((now_us() - start) / n);  // the first maps the pages
    }
    std::printf("memory   -  %6d  %9.2f\n", n, median(rounds_us));
  }
}

// Prints the figures of one way; whether they are as promised.
template <class Way>
bool try_way(const char* name, const std::vector<int>& counts) {
  bool holds = true;
  for (const unsigned procs : {1u, 2u}) {
    // Stacks of 64 KiB: each of 8 MiB would have a page of page tables to itself.
    fj::runtime here({.procs = procs, .stack_size = std::size_t{64} << 10});
    fj::runtime there({.procs = 1, .stack_size = std::size_t{64} << 10});
    measure_round<Way>(here, there, counts.back());  // maps the stacks
    double first = 0;
    for (const int n : counts) {
      const figures found = measure<Way>(here, there, n);
      std::printf("%-7s  %u  %6d  %9.2f  %9.2f  %9.2f  %8llu\n", name, procs, n, found.block, found.whole, found.start,
                  static_cast<unsigned long long>(found.forced));
      if (first == 0) first = found.block;
      holds = holds && found.block <= most_growth * first && found.start <= most_start_us && found.forced == 0;
    }
  }
  return holds;
}

}  // namespace

int main(int argc, char** argv) {
  bool check = false;
  std::vector<int> counts;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--check")) {
      check = true;
    } else if (const int n = std::atoi(argv[i]); n >= 2 && n <= 20'000) {
      counts.push_back(n);
    } else {
      std::fprintf(stderr, "blocked: \"%s\" is no number of branches; give numbers from 2 to 20000\n", argv[i]);
      return 2;
    }
  }
  if (counts.empty()) counts = {1000, 2000, 4000, 10'000};
  std::sort(counts.begin(), counts.end());

  std::printf("for      P       n   block us   whole us   start us    forced\n");
  measure_memory(counts);
  const bool channels_hold = try_way<for_channel>("channel", counts);
  const bool holds = try_way<in_run>("run", counts) && channels_hold;
  if (check && !holds) std::printf("not as promised: see the head of blocked.cpp\n");
  return check && !holds ? 1 : 0;
}
