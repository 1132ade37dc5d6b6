// The rows of examples/moving/taskflow.cpp by Taskflow, with the same results.

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <numeric>
#include <taskflow/algorithm/for_each.hpp>
#include <taskflow/algorithm/reduce.hpp>
#include <taskflow/algorithm/sort.hpp>
#include <taskflow/taskflow.hpp>
#include <vector>

namespace {

tf::Executor executor;

std::vector<long> numbers() {
  std::vector<long> all(1'000);
  std::iota(all.begin(), all.end(), 0L);
  return all;
}

long precede() {
  long a = 0, b = 0, c = 0;
  tf::Taskflow graph;
  tf::Task first = graph.emplace([&] { a = 1; });
  tf::Task left = graph.emplace([&] { b = a + 10; }), right = graph.emplace([&] { c = a + 20; });
  first.precede(left, right);
  executor.run(graph).wait();
  return b * c;
}

// B after A, E after A and C.
long any_graph() {
  long a = 0, b = 0, c = 0, e = 0;
  tf::Taskflow graph;
  tf::Task task_a = graph.emplace([&] { a = 1; }), task_c = graph.emplace([&] { c = 2; });
  tf::Task task_b = graph.emplace([&] { b = a * 10; }), task_e = graph.emplace([&] { e = a + c; });
  task_b.succeed(task_a);
  task_e.succeed(task_a, task_c);
  executor.run(graph).wait();
  return b + c + e;
}

long subflow() {
  std::atomic<long> sum = 0;
  tf::Taskflow graph;
  graph.emplace([&](tf::Subflow& inner) {
    inner.emplace([&] { sum += 1; });
    inner.emplace([&] { sum += 2; });
    inner.join();
  });
  executor.run(graph).wait();
  return sum;
}

long async() {
  return executor.async([] { return 42L; }).get();
}

long condition() {
  long rounds = 0;
  tf::Taskflow graph;
  tf::Task begin = graph.emplace([] {}), end = graph.emplace([] {});
  tf::Task body = graph.emplace([&] { return ++rounds < 5 ? 0 : 1; });
  begin.precede(body);
  body.precede(body, end);
  executor.run(graph).wait();
  return rounds;
}

long for_each() {
  std::vector<long> all = numbers();
  tf::Taskflow graph;
  graph.for_each(all.begin(), all.end(), [](long& each) { each *= 2; });
  executor.run(graph).wait();
  return all[10];
}

long for_each_index() {
  std::atomic<long> sum = 0;
  tf::Taskflow graph;
  graph.for_each_index(5, 100, 7, [&](int i) { sum += i; });
  executor.run(graph).wait();
  return sum;
}

long reduce() {
  std::vector<long> all = numbers();
  long sum = 0;
  tf::Taskflow graph;
  graph.reduce(all.begin(), all.end(), sum, std::plus<>());
  executor.run(graph).wait();
  return sum;
}

long sort() {
  std::vector<long> all = numbers();
  tf::Taskflow graph;
  graph.sort(all.begin(), all.end(), std::greater<>());
  executor.run(graph).wait();
  return all[0];
}

long semaphore() {
  tf::Semaphore four(4);
  std::atomic<long> now = 0, most = 0;
  tf::Taskflow graph;
  for (int i = 0; i < 100; ++i) {
    tf::Task task = graph.emplace([&] {
      for (long seen = most, mine = ++now; seen < mine && !most.compare_exchange_weak(seen, mine);) {}
      --now;
    });
    task.acquire(four);
    task.release(four);
  }
  executor.run(graph).wait();
  return most <= 4;
}

long two_workers() {
  tf::Executor two(2);
  return static_cast<long>(two.num_workers());
}

}  // namespace

int main() {
  const struct {
    const char* name;
    long (*row)();
  } rows[] = {
      {"precede", &precede},
      {"any_graph", &any_graph},
      {"subflow", &subflow},
      {"async", &async},
      {"condition", &condition},
      {"for_each", &for_each},
      {"for_each_index", &for_each_index},
      {"reduce", &reduce},
      {"sort", &sort},
      {"semaphore", &semaphore},
      {"executor", &two_workers},
  };
  for (const auto& each : rows) std::printf("%s %ld\n", each.name, each.row());
}
