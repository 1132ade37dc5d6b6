// What a theft moves: a function that forks 64 children one after another, each of which computes for 20 us, with data
// that the function goes over between the forks, or that it has just written for a child. The kinds of questions
// (harness/asked.hpp); n is the bytes of the data:
//
//   caller   before each fork the function changes all of its data, which are the same each time
//   child    before each fork the function writes the data of the next child, which changes them; each child has its
//            own
//
// A kind is followed by a slash and the way; by `thefts/` before it the answer is how many there were in a call.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness/asked.hpp"

namespace locality {

inline constexpr std::size_t children = 64, cache_line = 64;
inline constexpr std::chrono::microseconds of_child(20);

using data = std::vector<std::uint64_t>;

/// In each cache line of [first, last).
inline void change(std::uint64_t* first, const std::uint64_t* last) {
  for (; first < last; first += cache_line / sizeof *first) ++*first;
}

inline void compute() {
  const auto end = std::chrono::steady_clock::now() + of_child;
  while (std::chrono::steady_clock::now() < end) {}
}

/// Group::fork(f), Group::join().
template <class Group>
void run_caller(data& of) {
  Group all;
  for (std::size_t i = 0; i < children; ++i) {
    change(of.data(), of.data() + of.size());
    all.fork([] { compute(); });
  }
  all.join();
}

template <class Group>
void run_child(data& of) {
  const std::size_t size = of.size() / children;
  Group all;
  for (std::size_t i = 0; i < children; ++i) {
    std::uint64_t* const own = of.data() + i * size;
    change(own, own + size);
    all.fork([=] {
      change(own, own + size);
      compute();
    });
  }
  all.join();
}

/// Of calls, which it counts. `within` calls a function in the runtime. Below zero if a line was not changed as often
/// as it should be.
template <class Group, class Within>
double ns_of(const std::string& kind, std::size_t bytes, std::uint64_t& calls, const Within& within) {
  if (kind != "caller" && kind != "child") return -1;
  const bool of_caller = kind == "caller";
  const std::size_t size = (std::max)(bytes, cache_line) / sizeof(std::uint64_t);
  data of(of_caller ? size : size * children);
  double ns = 0;
  within([&] {
    ns = bench::ns_of([&] {
      ++calls;
      of_caller ? run_caller<Group>(of) : run_child<Group>(of);
    });
  });
  const std::uint64_t each = calls * (of_caller ? children : 2);
  for (std::size_t i = 0; i < of.size(); i += cache_line / sizeof of[0]) {
    if (of[i] != each) return -1;
  }
  return ns;
}

}  // namespace locality
