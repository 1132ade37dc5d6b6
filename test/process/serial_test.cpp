// The serial build: the same program without the library, without threads.
#define FORKJOIN_SERIAL

#include <cstdio>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/task_group.hpp>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "serial build: %s\n", what);
  std::exit(1);
}

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

long scope_fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  fj::scope s;
  s.fork([&a, n] { a = scope_fib(n - 1); });
  b = scope_fib(n - 2);
  s.join();
  return a + b;
}

void task_groups() {
  fj::task_group group;
  int tasks = 0, where_tasks = -1;
  group.run([&] { where_tasks = fj::this_proc(); });
  group.run([&](fj::stop_token stop) { tasks += stop.stop_requested() ? 9 : 1; });
  expect(group.run_and_wait([&] { ++tasks; }) == fj::task_group_status::complete && tasks == 2 && where_tasks == 0,
         "task_group");
  group.run([] { throw std::runtime_error("first"); });
  group.run([&] { ++tasks; });
  try {
    group.wait();
    tasks = 9;
  } catch (const std::runtime_error&) {}
  fj::task_group outer;
  fj::stop_token of_outer;
  outer.run([&](fj::stop_token stop) { of_outer = stop; });
  fj::task_group inner(of_outer);
  fj::stop_token seen;
  inner.run([&](fj::stop_token stop) { seen = stop; });
  outer.cancel();
  inner.run([&] { ++tasks; });
  expect(tasks == 2 && seen.stop_requested() && inner.wait() == fj::task_group_status::canceled, "a task_group stops");
}

long threads() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long n = 0;
    if (word == "Threads:" && status >> n) return n;
  }
  return 1;
}

}  // namespace

int main() {
  // Outside of fj::run these enter, too.
  bool inside = true;
  fj::parallel_for(0, 4, [&](int) { inside = inside && fj::this_proc() == 0; });
  const std::vector<long> some(100, 1);
  const auto is_inside = [&](long each) { return inside = inside && fj::this_proc() == 0, each; };
  static_cast<void>(fj::parallel_reduce(some, 0L, std::plus<>(), is_inside));
  fj::parallel_for(0, 2, [](int) {
    fj::scope s;
    s.fork([] {});
    s.join();
  });
  expect(inside && fj::this_proc() == -1, "loops outside of a run");

  fj::runtime rt{fj::options{.procs = 8}};
  expect(rt.procs() == 1 && fj::procs() == 1, "one P");
  expect(fj::this_proc() == -1, "outside before run");
  expect(rt.run([] { return fj::this_proc(); }) == 0, "inside in run");
  expect(rt.run([] { return fib(15); }) == 610, "fork_join");
  expect(fib(15) == 610, "fork_join outside");
  expect(fj::run([] { return scope_fib(15); }) == 610, "scope");

  task_groups();

  auto [scopes, where] = fj::fork_join([] { return scope_fib(10); }, [] { return fj::this_proc(); });
  expect(scopes == 55 && where == 0, "fork_join outside is inside for its branches");
  expect(fj::this_proc() == -1, "outside afterwards");

  std::vector<int> order;
  fj::fork_join<fj::tasks>([&] { order.push_back(1); }, [&] { order.push_back(2); }, [&] { order.push_back(3); });
  expect(order == std::vector<int>{1, 2, 3}, "the order is the program's");

  int value = 5;
  auto [owner, reference, nothing] =
      fj::fork_join([] { return std::make_unique<int>(4); }, [&]() -> int& { return value; }, [] {});
  static_cast<void>(nothing);
  expect(*owner == 4 && &reference == &value, "results as in the other build");

  std::vector<int> iterations;
  fj::parallel_for(1, 8, 3, [&](int i) { iterations.push_back(i); });
  fj::parallel_for_blocks(8, 10, [&](int begin, int end) { iterations.insert(iterations.end(), {begin, end}); },
                          {.grain = 2});
  expect(iterations == std::vector<int>{1, 4, 7, 8, 10}, "loops with steps and by blocks");
  const auto is_even = [](int i) { return i % 2 == 0; };
  expect(fj::parallel_stable_partition(iterations, is_even) == iterations.begin() + 3 &&
             iterations == std::vector<int>{4, 8, 10, 1, 7},
         "a stable partition");
  const auto append = [](std::string all, int i) { return all + std::to_string(i); };
  expect(fj::parallel_reduce(iterations, std::string(), append, std::plus<>()) == "481017", "a reduction with a join");
  const auto append_block = [&](std::size_t begin, std::size_t end, std::string all) {
    for (; begin != end; ++begin) all = append(all, iterations[begin]);
    return all;
  };
  expect(fj::parallel_reduce(std::size_t{0}, iterations.size(), std::string(), append_block, std::plus<>()) == "481017",
         "a reduction by blocks");
  std::vector<int> sums(iterations.size());
  const auto scan_block = [&](std::size_t begin, std::size_t end, int all, bool is_final) {
    for (; begin != end; ++begin) {
      all += iterations[begin];
      if (is_final) sums[begin] = all;
    }
    return all;
  };
  expect(fj::parallel_scan(std::size_t{0}, iterations.size(), 0, scan_block, std::plus<>()) == 30 &&
             sums == std::vector<int>{4, 12, 22, 23, 30},
         "a scan by blocks");
  fj::combinable<int> sum;
  fj::parallel_for(iterations, [&](int i) { sum.with_local([i](int& mine) { mine += i; }); });
  expect(fj::combinable<int>(sum).combine(std::plus<>()) == 30, "a combinable and its copy");

  fj::default_options({.procs = 8});

  bool later = false;
  try {
    fj::fork_join([] { throw std::runtime_error("first"); }, [&] { later = true; });
    expect(false, "an exception passes");
  } catch (const std::runtime_error& e) {
    expect(std::string(e.what()) == "first" && !later, "the first exception, and nothing after it");
  }

  fj::stop_source source;
  source.request_stop();
  try {
    fj::with_scope(source.get_token(), [&](fj::scope& s) { s.fork([&] { later = true; }); });
    expect(false, "cancelled");
  } catch (const fj::cancelled&) {
    expect(!later, "what has not started is left out");
  }
  try {
    fj::run([&] {
      fj::scope s(source.get_token());
      expect(s.stopped() && !fj::scope().stopped(), "a scope knows whether it starts anything");
      s.fork([&] { later = true; });
    });
    expect(false, "cancelled by the end of a scope");
  } catch (const fj::cancelled&) {
    expect(!later, "what has not started is left out there, too");
  }
  try {
    const fj::scope outside;
    expect(false, "a scope outside of run");
  } catch (const std::logic_error&) {}
  expect(threads() == 1, "no threads");
}
