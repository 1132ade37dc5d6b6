// <kernel>_once <way> <size> <procs> [runs]: one run, or `runs` of them. Then it prints the seconds (a line for each
// run), the counters, what the processor counted in the first run (hardware.hpp), and the peak memory of the whole
// process. It is not the Google Benchmark binary, so that the memory is the kernel's own and a run is short enough for
// callgrind.
//
// <kernel>_once --moments <way> <size> <procs> <count> <runs>: takes `count` moments (moment.hpp) and prints a line for
// each with its four figures in seconds, each the mean of `runs` runs.
//
// <kernel>_once --test: runs every way at the test sizes on 1, 2, 3 and 8 processors (OpenMP's on up to 3), and checks
// the results.
// <kernel>_once --list: prints the kernels, ways and sizes as JSON.
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "bench/harness/command_line.hpp"
#include "bench/harness/hardware.hpp"
#include "bench/harness/kernel.hpp"
#include "bench/harness/moment.hpp"

namespace {

// VmHWM, because getrusage's ru_maxrss also counts the memory of the process before exec.
std::optional<long> peak_resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib;
  }
  return std::nullopt;
}

void print(const char* name, std::span<const long> sizes, const bench::kernel& kernel) {
  std::printf("\"%s\": [", name);
  const char* comma = "";
  for (const long size : sizes) {
    std::printf("%s{\"size\": %ld", comma, size);
    if (const std::string_view label = kernel.label ? kernel.label(size) : ""; !label.empty()) {
      std::printf(", \"label\": \"%.*s\"", int(label.size()), label.data());
    }
    if (kernel.forks) std::printf(", \"forks\": %llu", static_cast<unsigned long long>(kernel.forks(size)));
    std::printf("}");
    comma = ", ";
  }
  std::printf("]");
}

int list() {
  const char* comma = "[";
  for (const bench::entry& entry : bench::entries()) {
    const bench::kernel& k = *entry.what;
    const auto told = [](bool value) { return value ? "true" : "false"; };
    std::printf("%s{\"name\": \"%.*s\", \"stack_size\": %zu, \"cut_off\": %s, \"parallel\": %s, \"over_loops\": %s,\n ",
                comma, int(k.name.size()), k.name.data(), k.stack_size, told(k.cut_off), told(k.parallel),
                told(k.over_loops));
    print("test", k.measured.test, k);
    std::printf(",\n ");
    print("quick", k.measured.quick, k);
    std::printf(",\n ");
    print("full", k.measured.full, k);
    std::printf(",\n \"ways\": [");
    const char* between = "";
    for (const bench::way& way : entry.ways) {
      if (!way.measured) continue;
      std::printf("%s\"%.*s\"", between, int(way.name.size()), way.name.data());
      between = ", ";
    }
    std::printf("]}");
    comma = ",\n";
  }
  std::printf("]\n");
  return 0;
}

int usage() {
  const bench::entry entry = bench::entries().front();
  std::fprintf(
      stderr,
      "usage: %.*s_once <way> <size> <procs> [runs], or --moments <way> <size> <procs> <count> <runs>, or --test, "
      "or --list\n  way:  ",
      int(entry.what->name.size()), entry.what->name.data());
  for (const bench::way& w : entry.ways) std::fprintf(stderr, " %.*s", int(w.name.size()), w.name.data());
  std::fprintf(stderr, "\n  size: such as");
  for (const auto sizes : {entry.what->measured.test, entry.what->measured.quick, entry.what->measured.full}) {
    for (const long size : sizes) std::fprintf(stderr, " %ld", size);
  }
  std::fprintf(stderr, "\n");
  return 2;
}

bool right(const bench::kernel& kernel, const bench::way& way, long size, int procs, std::uint64_t result) {
  const std::uint64_t expected = kernel.expected(size);
  if (result == expected) return true;
  std::fprintf(stderr, "wrong: %.*s of %ld by %.*s on %d processors gave %llu, not %llu\n", int(kernel.name.size()),
               kernel.name.data(), size, int(way.name.size()), way.name.data(), procs,
               static_cast<unsigned long long>(result), static_cast<unsigned long long>(expected));
  return false;
}

int run(const bench::kernel& kernel, const bench::way& way, long size, int procs, long runs) {
  static_cast<void>(kernel.expected(size));  // throws before the work is done rather than after
  bench::hardware_counters hardware;         // first: it counts threads that are started later
  const auto team = way.assemble(procs);
  team->prepare(size);
  team->reset();
  const auto before = peak_resident_kib();
  std::vector<double> seconds;
  for (long i = 0; i < runs; ++i) {
    if (i > 0) team->reset();
    if (i == 0) hardware.start();
    const auto start = std::chrono::steady_clock::now();
    team->run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (i == 0) hardware.stop();
  }
  const auto counters = team->counters();
  const auto memory = peak_resident_kib();
  const std::uint64_t result = team->result();

  std::printf("result %llu\n", static_cast<unsigned long long>(result));
  for (const double s : seconds) std::printf("seconds %.6f\n", s);
  for (const auto& [name, value] : counters) {
    std::printf("%.*s %llu\n", int(name.size()), name.data(), static_cast<unsigned long long>(value));
  }
  for (const auto& [name, value] : hardware.read()) {
    std::printf("hardware_%.*s %llu\n", int(name.size()), name.data(), static_cast<unsigned long long>(value));
  }
  if (before && memory) {
    std::printf("prepared_resident_kib %ld\npeak_resident_kib %ld\n", *before, *memory);
  } else {
    std::printf("peak_resident_kib unknown\n");
  }
  return right(kernel, way, size, procs, result) ? 0 : 1;
}

int show_moments(const bench::kernel& kernel, const bench::way& way, long size, int procs, long count, long runs) {
  static_cast<void>(kernel.expected(size));  // throws before the work is done rather than after
  bench::moments moments(way, size, procs);
  for (long i = 0; i < count; ++i) {
    const auto [alone, parallel, apart, alone_again] = moments.take(runs);
    std::printf("moment %.6f %.6f %.6f %.6f\n", alone, parallel, apart, alone_again);
  }
  for (const std::uint64_t result : moments.results()) {
    if (!right(kernel, way, size, procs, result)) return 1;
  }
  return 0;
}

int test() {
  int wrong = 0;
  for (const bench::entry& entry : bench::entries()) {
    for (const bench::way& way : entry.ways) {
      for (const int procs : {1, 2, 3, 8}) {
        if (!way.parallel && procs > 1) continue;
        // More threads than processors at a barrier of OpenMP's take minutes while other programs run.
        if (way.name == "omp" && procs > 3) continue;
        const auto team = way.assemble(procs);
        for (const long size : entry.what->measured.test) {
          team->prepare(size);
          for (int again = 0; again < 2; ++again) {  // the second time with what the first one left behind
            team->reset();
            team->run();
            if (!right(*entry.what, way, size, procs, team->result())) ++wrong;
          }
        }
      }
      std::printf("%.*s %.*s: done\n", int(entry.what->name.size()), entry.what->name.data(), int(way.name.size()),
                  way.name.data());
    }
  }
  return wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && argv[1] == std::string_view("--test")) return test();
    if (argc == 2 && argv[1] == std::string_view("--list")) return list();
    const bool moments = argc == 7 && argv[1] == std::string_view("--moments");
    if (argc != 4 && argc != 5 && !moments) return usage();
    char** const asked = moments ? argv + 2 : argv + 1;
    const auto size = bench::parse_number(asked[1], 0, 1'000'000'000'000);
    const auto procs = bench::parse_number(asked[2], 1, 4096);
    const auto count = moments ? bench::parse_number(asked[3], 1, 1'000'000) : 1;
    const auto runs = argc > 4 ? bench::parse_number(argv[argc - 1], 1, 1'000'000) : 1;
    if (!size || !procs || !count || !runs) return usage();
    const bench::entry entry = bench::entries().front();
    for (const bench::way& way : entry.ways) {
      if (way.name != asked[0]) continue;
      if (!way.parallel && *procs != 1) {
        std::fprintf(stderr, "%s runs on one processor only\n", asked[0]);
        return 2;
      }
      const int p = static_cast<int>(*procs);
      return moments ? show_moments(*entry.what, way, *size, p, *count, *runs) : run(*entry.what, way, *size, p, *runs);
    }
    return usage();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
