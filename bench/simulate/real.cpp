// simulate_real <kernel> <size> serial|continuations|tasks <procs>: walks a kernel's simulated DAG on the library
// itself, with loops that take about as long as the work of each step. What the simulation is checked against
// (check.py).
#include <forkjoin/forkjoin.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bench/simulate/analysis.hpp"
#include "bench/simulate/kernel.hpp"
#include "forkjoin/loops/forked_sections.hpp"

namespace {

using namespace simulate;
using seconds = std::chrono::duration<double>;

void spin(std::int64_t turns) {
  for (; turns > 0; --turns) asm volatile("");
}

double turns_per_picosecond() {
  double most = 0;
  for (int i = 0; i < 5; ++i) {  // the fastest: others may have been on the processor
    const auto start = std::chrono::steady_clock::now();
    spin(2'000'000);
    const seconds took = std::chrono::steady_clock::now() - start;
    most = std::max(most, 2e6 / (took.count() * 1e12));
  }
  return most;
}

struct serial {};

struct walker {
  const kernel& k;
  double speed;
  std::uint64_t order = 0;

  /// With keep_order, only on one P, and not to be timed.
  template <class Policy, bool keep_order = false>
  void walk(node self) {
    if constexpr (keep_order) order = followed_by(order, self);
    step s;
    for (unsigned phase = 0;; ++phase) {
      k.at(self, phase, s);
      if constexpr (!keep_order) spin(static_cast<std::int64_t>(static_cast<double>(s.work) * speed));
      if (s.follows == then::end) return;
      if (s.follows == then::call) {
        walk<Policy, keep_order>(s.left);
      } else if constexpr (std::is_same_v<Policy, serial>) {
        walk<Policy, keep_order>(s.left);
        walk<Policy, keep_order>(s.right);
      } else {
        if (std::is_same_v<Policy, fj::continuations> && s.iterations > 0) {
          walk_loop<keep_order>(s);
          continue;
        }
        if (std::is_same_v<Policy, fj::continuations> && s.parts.size > 0 && s.parts.are_all() && fj::procs() > 1) {
          walk_sections<keep_order>(s);  // loops take no policy
          continue;
        }
        const auto left = [&] { walk<Policy, keep_order>(s.left); };
        const auto right = [&] { walk<Policy, keep_order>(s.right); };
        fj::fork_join<Policy>(left, right);
      }
    }
  }

  /// A loop of parts, from its first fork on.
  template <bool keep_order>
  void walk_sections(const step& first) {
    const unsigned count = fj::detail::sections::of_tree(first.parts.size, fj::procs());
    const auto walk_one = [&, this](unsigned number) {
      const step fork = fork_of_section(k, first, number, count);
      walk<fj::continuations, keep_order>(number % 2 ? fork.right : fork.left);
    };
    fj::detail::forked_sections(count, fj::procs(), walk_one).run();
  }

  /// A loop of forks, from the fork of its first iteration on.
  template <bool keep_order>
  void walk_loop(const step& first) {
    std::vector<node> iterations{first.left}, rests{first.right};
    for (std::uint32_t left = first.iterations; left > 1; --left) {
      step next;
      node rest = rests.back();
      k.at(rest, 0, next);
      iterations.push_back(next.left);
      rests.push_back(next.right);
    }
    iterations.push_back(rests.back());  // the last rest is an iteration
    fj::fork_each(std::size_t{0}, iterations.size(), [&](std::size_t i) {
      if constexpr (keep_order)
        if (i > 0 && i + 1 < iterations.size()) order = followed_by(order, rests[i - 1]);
      walk<fj::continuations, keep_order>(iterations[i]);
    });
  }
};

long number(const char* text, long least, long most) {
  long value = 0;
  const char* const end = text + std::string_view(text).size();
  const auto [rest, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || rest != end || value < least || value > most)
    throw std::invalid_argument(std::string(text).append(" is not a number from ").append(std::to_string(least)) +
                                " to " + std::to_string(most));
  return value;
}

struct lasted {
  double seconds = 0;
  double processors = 0;  ///< that the program's threads were on, on average
};

template <class Walk>
lasted timed(Walk walk) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t used = std::clock();
  walk();
  const double on_processors = static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC;
  const double took = seconds(std::chrono::steady_clock::now() - start).count();
  return {took, on_processors / took};
}

void run(const char* name, long size, std::string_view way, unsigned procs) {
  const auto k = make_kernel(name, size, units());
  walker w{*k, turns_per_picosecond()};
  lasted took;
  fj::options chosen;
  chosen.procs = procs;
  chosen.stack_size = std::size_t{256} << 20;  // calls of a walk take more of the stack than those of real programs
  fj::runtime rt(chosen);
  const auto walk = [&]<class Policy>(Policy) { took = timed([&] { rt.run([&] { w.walk<Policy>(k->root()); }); }); };
  if (way == "serial") {
    walk(serial());  // in the runtime, too: on such a large stack
  } else if (way == "continuations") {
    walk(fj::continuations());
  } else if (way == "tasks") {
    walk(fj::tasks());
  } else {
    throw std::invalid_argument(std::string("the way is serial, continuations or tasks, not ").append(way));
  }
  const fj::stats read = rt.stats();
  const fj::counters c = read.total();
  if (procs == 1) {
    const auto note = [&]<class Policy>(Policy) { rt.run([&] { w.walk<Policy, true>(k->root()); }); };
    way == "serial" ? note(serial()) : way == "tasks" ? note(fj::tasks()) : note(fj::continuations());
  }
  const auto print = [](const char* what, unsigned long long value) { std::printf("%s %llu\n", what, value); };
  std::printf("seconds %.9f\nprocessors %.3f\n", took.seconds, took.processors);
  print("order", w.order);
  print("steals", c.steals);
  print("suspensions", c.suspensions);
  print("resumptions", c.resumptions);
  print("join_waits", c.join_waits);
  print("exposures", c.exposures);
  print("publications", c.publications);
  print("slow_pushes", c.slow_pushes);
  print("slow_pops", c.slow_pops);
  print("parks", c.parks);
  print("wakeups", c.wakeups);
  print("peak_stacks", read.stacks_peak);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: simulate_real <kernel> <size, or 0> serial|continuations|tasks <procs>\n");
    return 2;
  }
  try {
    run(argv[1], number(argv[2], 0, 2'000'000'000), argv[3], static_cast<unsigned>(number(argv[4], 1, 4096)));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "simulate_real: %s\n", e.what());
    return 1;
  }
}
