// The runs of a program with ways to fork: each shape by each way, in turn.
//
//   <program> <P> <turn> <leaves> <us of a leaf> sleep|compute
//
// Each way runs once, in an order that depends on the turn, on a stack that is large enough for a chain. Prints a line
// of JSON for each run.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/virtual/shapes.hpp"

namespace shapes {

struct way {
  const char* name;
  /// Runs the tree on so many P; what it counted, as members of a JSON object.
  std::string (*run)(const tree& of, unsigned procs, double& seconds);
  bool groups = false;  ///< another way to write children: of interest for some shapes only
};

template <class F>
double seconds_of(F&& f) {
  const auto begun = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

inline int main_of(std::vector<way> ways, int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s <P> <turn> <leaves> <us of a leaf> sleep|compute\n", argv[0]);
    return 2;
  }
  const auto procs = static_cast<unsigned>(std::atoi(argv[1]));
  std::mt19937 dice(static_cast<unsigned>(std::atoi(argv[2])));
  const long leaves = std::atol(argv[3]);
  const double unit = std::atof(argv[4]);
  const bool sleeps = std::strcmp(argv[5], "sleep") == 0;
  for (const shape& of : all) {
    const tree all_of_it(of, leaves, unit, sleeps);
    const size units = all_of_it.measure();
    std::ranges::shuffle(ways, dice);
    for (const way& by : ways) {
      if (by.groups && !has_groups(of)) continue;
      double seconds = 0;
      const std::string counted = by.run(all_of_it, procs, seconds);
      std::printf("{\"shape\": \"%s\", \"way\": \"%s\", \"units\": %.4f, \"span\": %.4f, \"seconds\": %.6f%s}\n",
                  std::string(of.name).c_str(), by.name, units.work, units.span, seconds, counted.c_str());
    }
  }
  return 0;
}

}  // namespace shapes
