// fib_once <way> <n> <procs>: one fib, then what it took: seconds, counters, peak memory of the whole process.
// Apart from the Google Benchmark binary so that memory is fib's own, and short enough to run under callgrind.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>
#include <string>

#include "bench/fib/way.hpp"

namespace {

std::optional<int> parse(std::string_view text, int smallest, int largest) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value < smallest || value > largest) return std::nullopt;
  return value;
}

// VmHWM rather than getrusage's ru_maxrss: that one also remembers what the process was before exec.
std::optional<long> peak_resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib;
  }
  return std::nullopt;
}

int usage() {
  std::fprintf(stderr, "usage: fib_once <way> <n> <procs>\n  way: ");
  for (const bench::way& w : bench::all_ways()) std::fprintf(stderr, " %.*s", int(w.name.size()), w.name.data());
  std::fprintf(stderr, "\n  n:    %d to %d\n  oneTBB: %s\n", bench::smallest_n, bench::largest_n,
               bench::tbb_description().c_str());
  return 2;
}

int run(const bench::way& w, int n, int procs) {
  const auto team = w.assemble(procs);
  const auto start = std::chrono::steady_clock::now();
  const long result = team->fib(n);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const auto counters = team->counters();
  const auto memory = peak_resident_kib();

  std::printf("result %ld\nseconds %.6f\n", result, took.count());
  for (const auto& [name, value] : counters) {
    std::printf("%.*s %llu\n", int(name.size()), name.data(), static_cast<unsigned long long>(value));
  }
  if (memory) {
    std::printf("peak_resident_kib %ld\n", *memory);
  } else {
    std::printf("peak_resident_kib unknown\n");
  }
  if (result == bench::expected_fib(n)) return 0;
  std::fprintf(stderr, "wrong: fib(%d) is %ld\n", n, bench::expected_fib(n));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return usage();
  const auto n = parse(argv[2], bench::smallest_n, bench::largest_n);
  const auto procs = parse(argv[3], 1, 1024);
  if (!n || !procs) return usage();
  for (const bench::way& w : bench::all_ways()) {
    if (w.name != argv[1]) continue;
    if (!w.parallel && *procs != 1) {
      std::fprintf(stderr, "%s runs on one processor only\n", argv[1]);
      return 2;
    }
    try {
      return run(w, *n, *procs);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", argv[1], e.what());
      return 1;
    }
  }
  return usage();
}
