// What profile_test.py and profile_times_test.py run: profile_program CASE. Built as a profile; built as a serial twin
// it runs alike.
//
// `// site: NAME` marks a line that forks. The cases of known graphs print the steps of their work and of their span,
// and the nanoseconds of a step, measured before and after: the least and the mean.
#include <forkjoin/forkjoin.hpp>

#include <time.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

// --- counts ---

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });  // site: two
  return a + b;
}

[[gnu::noinline]] void counts() {
  fj::run([] {
    fib(20);
    for (int i = 0; i != 7; ++i) fj::fork_join([] {}, [] {}, [] {});  // site: three
    fj::fork_each(0, 100, [](int) {});                                // site: iterations
    std::vector<int> numbers(1000);
    fj::parallel_for(numbers, [](int& each) { ++each; }, {.grain = 10});                   // site: grain
    static_cast<void>(fj::fork_reduce(0, 10, 0, std::plus<>(), [](int i) { return i; }));  // site: fold
    fj::scope some;
    for (int i = 0; i != 5; ++i) some.fork([] {});  // site: scope
    some.join();
  });
  // Outside of any runtime.
  fj::fork_join([] {}, [] {});  // site: outside
}

[[gnu::noinline]] void take(int units) {
  volatile long x = 0;
  for (int i = 0; i != 200'000 * units; ++i) x = x + 1;
}

// What no branch is around: before forks, beside children, and after joins, each nine times as long as the one before.
[[gnu::noinline]] void outside() {
  fj::run([] {
    take(1);
    {
      fj::scope some;
      some.fork([] {});  // site: child
      take(9);
      some.join();
      take(81);
    }
    fj::fork_join([] {}, [] {});  // site: last_fork
  });
}

// Loops of one line that are brief at first, and then longer. Prints how long they took.
[[gnu::noinline]] void growing_loops() {
  std::vector<double> x(2000, 1.0);
  timespec begin{}, end{};
  fj::run([] {});  // the profile measures its own costs before that
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  fj::run([&] {
    for (int repeat = 0; repeat != 50; ++repeat)
      for (int level = 1; level != 800; ++level)
        fj::parallel_for(0, level < 400 ? level : 800 - level, [&](int i) {
          double& one = x[static_cast<std::size_t>(i)];
          one = std::sqrt(one) / (one + 0.1);
        });
  });
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  std::printf("%.0f\n",
              static_cast<double>(end.tv_sec - begin.tv_sec) * 1e9 + static_cast<double>(end.tv_nsec - begin.tv_nsec));
}

// Loops of a few microseconds, which one strand runs, and one that is shared.
[[gnu::noinline]] void short_loops() {
  fj::run([] {
    std::vector<double> x(400, 1.0);
    for (int i = 0; i != 2000; ++i) fj::parallel_for(x, [](double& v) { v = v * 0.999 + 0.1; });  // site: short
    fj::parallel_for(0, 8, [](int) { take(9); });                                                 // site: long
  });
}

// A branch ends where it throws, and those after it do not begin.
[[gnu::noinline]] void throws() {
  fj::run([] {
    for (int i = 0; i != 10; ++i) {
      try {
        fj::fork_join([] { throw 1; }, [] {});  // site: first
      } catch (int) {}
      try {
        fj::fork_join([] {}, [] { fj::fork_join([] { fib(3); }, [] { throw 1; }); });  // site: last
      } catch (int) {}
      try {
        fj::fork_each(0, 10, [](int iteration) {  // site: iteration
          if (iteration == 4) throw 1;
        });
      } catch (int) {}
    }
    fib(10);
  });
}

// A branch may fork into a scope of an ancestor.
[[gnu::noinline]] void ancestors() {
  fj::run([] {
    fj::scope all;
    all.fork([&] {
      fj::fork_join(
          [&] {
            all.fork([] { fib(3); });  // site: ancestor
          },
          [&] {
            fj::scope own;
            own.fork([&] {
              all.fork([] {});  // site: of both
            });
          });
    });
  });
}

// The outer scope is joined before the inner one.
[[gnu::noinline]] void crossing_scopes() {
  fj::run([] {
    fj::scope outer;
    outer.fork([] { fib(3); });
    fj::scope inner;
    inner.fork([] { fib(3); });
    outer.join();
    inner.join();
  });
}

// --- graphs with known strands ---

volatile std::uint64_t sink;

[[gnu::noinline]] void steps(long n) {
  std::uint64_t x = 88172645463325252u;
  for (long i = 0; i < n; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  sink = x;
}

double cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Nanoseconds of a step, as the machine is.
struct step_times {
  double least = std::numeric_limits<double>::max();
  double sum = 0;
  int n = 0;

  void measure() {
    constexpr long steps_at_a_time = 200'000;
    for (int i = 0; i != 40; ++i) {
      const double begin = cpu_ns();
      steps(steps_at_a_time);
      const double step = (cpu_ns() - begin) / steps_at_a_time;
      least = std::min(least, step);
      sum += step;
      ++n;
    }
  }
};

/// Strands of so few steps. The processor begins one before it has ended what is before it, so they take less than as
/// many steps of a long one; and the calls between them take time, too.
struct brief_strand {
  long steps;
  double takes;  // as many steps of a long one
} rare_leaf{100, 100}, brief_iteration{150, 150};

/// As rare, by calls. Returns the number of leaves.
[[gnu::noinline]] long call_leaves(int n) {
  if (n >= 2) return call_leaves(n - 1) + call_leaves(n - 2);
  steps(rare_leaf.steps);
  return 1;
}

template <class F>
double least_time(int times, F f) {
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i != times; ++i) {
    const double begin = cpu_ns();
    f();
    least = std::min(least, cpu_ns() - begin);
  }
  return least;
}

void measure_brief(double step) {
  long leaves = 0;
  rare_leaf.takes = least_time(100, [&] { leaves = call_leaves(15); }) / step;
  rare_leaf.takes /= static_cast<double>(leaves);
  constexpr int iterations = 1000;
  brief_iteration.takes = least_time(100,
                                     [] {
                                       for (int i = 0; i != iterations; ++i) steps(brief_iteration.steps);
                                     }) /
                          iterations / step;
}

/// Steps of a long strand.
struct known {
  double work, span;
};

known strand(long n) {
  steps(n);
  return {static_cast<double>(n), static_cast<double>(n)};
}

known strand(const brief_strand& brief) {
  steps(brief.steps);
  return {brief.takes, brief.takes};
}

known after(known a, known b) { return {a.work + b.work, a.span + b.span}; }
known beside(known a, known b) { return {a.work + b.work, std::max(a.span, b.span)}; }

/// The same strands at each node.
known even(int depth, long before, long leaf, long behind) {
  if (depth == 0) return strand(leaf);
  const known first = strand(before);
  const auto [a, b] = fj::fork_join([=] { return even(depth - 1, before, leaf, behind); },
                                    [=] { return even(depth - 1, before, leaf, behind); });
  return after(after(first, beside(a, b)), strand(behind));
}

/// As fib.
known skewed(int n, long before, long leaf) {
  if (n < 2) return strand(leaf);
  const known first = strand(before);
  const auto [a, b] =
      fj::fork_join([=] { return skewed(n - 1, before, leaf); }, [=] { return skewed(n - 2, before, leaf); });
  return after(first, beside(a, b));
}

/// Strands in proportion to what is left, as a partition's.
known quick(long n) {
  if (n < 2000) return strand(n);
  const known first = strand(n);
  const auto [a, b] = fj::fork_join([=] { return quick(n / 3); }, [=] { return quick(n - n / 3); });
  return after(first, beside(a, b));
}

std::uint64_t chance = 1;
long any(long least, long most) {
  chance = chance * 6364136223846793005u + 1442695040888963407u;
  const double part = static_cast<double>(chance >> 11) * 0x1p-53;
  return static_cast<long>(static_cast<double>(least) *
                           std::pow(static_cast<double>(most) / static_cast<double>(least), part));
}

/// Lengths over three orders of magnitude.
known varied(int depth) {
  if (depth == 0) return strand(any(300, 300'000));
  const known first = strand(any(100, 100'000));
  const auto [a, b] = fj::fork_join([=] { return varied(depth - 1); }, [=] { return varied(depth - 1); });
  return after(first, beside(a, b));
}

/// One leaf of thousands is a thousand times as long as the others.
known rare(int n) {
  static long leaves = 0;
  if (n < 2) return ++leaves % 5000 == 77 ? strand(100'000) : strand(rare_leaf);
  const auto [a, b] = fj::fork_join([=] { return rare(n - 1); }, [=] { return rare(n - 2); });
  return beside(a, b);
}

known iterations() {
  known whole{0, 0};
  for (int i = 0; i != 20; ++i) {
    fj::fork_each(0, 100, [](int iteration) { steps(700 + 100 * (iteration % 7)); });
    whole = after(after(whole, {100 * 700 + 100 * (14 * 21 + 1), 1300}),
                  strand(3000));  // 14 times 0 + ... + 6, and then 0 and 1
  }
  return whole;
}

/// Too short to time each.
known brief_iterations() {
  known whole{0, 0};
  for (int i = 0; i != 20; ++i) {
    fj::fork_each(0, 500, [](int) { steps(brief_iteration.steps); });
    whole = after(after(whole, {500 * brief_iteration.takes, brief_iteration.takes}), strand(5000));
  }
  return whole;
}

/// The strand works between forks.
known scopes(int depth) {
  if (depth == 0) return strand(10'000);
  known children[3];
  double at = 0, longest = 0, work = 0;
  fj::scope some;
  for (known& child : children) {
    some.fork([&child, depth] { child = scopes(depth - 1); });
    steps(15'000);
    longest = std::max(longest, at + child.span);
    at += 15'000;
    work += 15'000 + child.work;
  }
  some.join();
  return after({work, std::max(longest, at)}, strand(5000));
}

/// Values are folded in order, one after the other.
known folds() {
  known whole{0, 0};
  for (int i = 0; i != 20; ++i) {
    const auto value = [](int iteration) {
      steps(20'000 - 1000 * iteration);
      return 1;
    };
    const auto add = [](int a, int b) {
      steps(500);
      return a + b;
    };
    static_cast<void>(fj::fork_reduce(0, 10, 0, add, value));
    whole = after(whole, {10 * 20'000 - 1000 * 45 + 10 * 500, 20'000 + 10 * 500});
  }
  return whole;
}

/// What a child forks into a scope of its grandparent begins where it is forked, and ends at that scope's join.
known grandchildren() {
  known whole{0, 0};
  for (int i = 0; i != 20; ++i) {
    {
      fj::scope all;
      all.fork([&] {
        steps(10'000);
        fj::fork_join([&] { steps(5000); },
                      [&] {
                        steps(2000);
                        all.fork([] { steps(40'000); });
                        steps(1000);
                      });
        steps(8000);
      });
      steps(9000);
    }
    whole = after(whole, {10'000 + 5000 + 2000 + 40'000 + 1000 + 8000 + 9000, 10'000 + 2000 + 40'000});
  }
  return whole;
}

const struct {
  const char* name;
  known (*run)();
} graphs[] = {
    {"even_short", [] { return even(11, 1500, 3000, 1500); }},
    {"even_long", [] { return even(6, 20'000, 100'000, 20'000); }},
    {"skewed", [] { return skewed(17, 3000, 10'000); }},
    {"quick", [] { return quick(1'000'000); }},
    {"varied", [] { return varied(9); }},
    {"rare", [] { return rare(24); }},
    {"iterations", iterations},
    {"brief_iterations", brief_iterations},
    {"longest", [] { return even(1, 10'000'000, 20'000'000, 10'000'000); }},
    {"scopes", [] { return scopes(4); }},
    {"folds", folds},
    {"grandchildren", grandchildren},
};

// --- costs ---

void leaves(int depth) {
  if (depth == 0) return steps(700);  // a microsecond
  fj::fork_join([=] { leaves(depth - 1); }, [=] { leaves(depth - 1); });
}

/// Prints the least of many times, in nanoseconds.
template <class F>
void print_time(F f) {
  std::printf("%.0f\n", least_time(40, [&] { fj::run(f); }));
}

// --- instructions ---

[[gnu::noinline]] void light() { steps(20'000); }
[[gnu::noinline]] void heavy() { steps(60'000); }
[[gnu::noinline]] void alone() { steps(120'000); }

/// A tree whose leaves loop over no children.
long nodes(int depth) {
  const std::vector<int> children(depth == 0 ? 0 : 2, depth - 1);
  return fj::fork_reduce(children, 1L, std::plus<>(), [](int d) { return nodes(d); });  // site: nodes
}
void visit(int depth) {
  const std::vector<int> children(depth == 0 ? 0 : 2, depth - 1);
  fj::fork_each(children, [](int d) { visit(d); });  // site: visit
}

void shares() {
  fj::run([] {
    for (int i = 0; i != 100; ++i) {
      fj::fork_join([] { light(); }, [] { light(); });  // site: light
      fj::fork_join([] { heavy(); }, [] { heavy(); });  // site: heavy
      alone();
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "counts") {
    counts();
  } else if (name == "throws") {
    throws();
  } else if (name == "ancestors") {
    ancestors();
  } else if (name == "crossing scopes") {
    crossing_scopes();
  } else if (name == "outside") {
    outside();
  } else if (name == "growing loops") {
    growing_loops();
  } else if (name == "short loops") {
    short_loops();
  } else if (name == "larger" || name == "smaller") {
    fj::run([&] { skewed(name == "larger" ? 12 : 10, 3000, 10'000); });
  } else if (name == "exit") {
    fj::run([] { fib(5); });
    fj::run([] { std::exit(0); });
  } else if (name == "threads") {
    fj::run([] { std::thread([] { fj::run([] {}); }).join(); });
  } else if (name == "leaves") {
    print_time([] { leaves(10); });
  } else if (name == "trees") {
    fj::run([] { nodes(5); });
    fj::run([] { visit(5); });
  } else if (name == "comma") {
    if (!std::setlocale(LC_ALL, argv[2])) return 3;
    fj::run([] { fib(15); });
  } else if (name == "fib") {
    print_time([] { fib(24); });
  } else if (name == "shares") {
    shares();
  } else if (name == "graphs") {
    for (const auto& one : graphs) std::printf("%s ", one.name);
  } else {
    for (const auto& one : graphs) {
      if (name != one.name) continue;
      any(1, 2);  // the first call reads the library's code
      chance = 1;
      step_times step;
      step.measure();
      measure_brief(step.least);
      known found{};
      fj::run([&] { found = one.run(); });
      step.measure();
      std::printf("%.0f %.0f %.4f %.4f\n", found.work, found.span, step.least, step.sum / step.n);
      return 0;
    }
    std::fprintf(stderr, "no case %s\n", name.c_str());
    return 2;
  }
  return 0;
}
