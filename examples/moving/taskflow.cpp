// From Taskflow: each row of the table in forkjoin/guide/moving.md. examples/moving/taskflow/main.cpp has the same rows
// by Taskflow.

#include <atomic>
#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <functional>
#include <numeric>
#include <vector>

#include "examples/moving/rows.hpp"

namespace {

std::vector<long> numbers() {
  std::vector<long> all(1'000);
  std::iota(all.begin(), all.end(), 0L);
  return all;
}

// A before B and C, and both before D.
namespace precede {
long ours() {
  const long a = 1;
  auto [b, c] = fj::fork_join([=] { return a + 10; }, [=] { return a + 20; });
  return b * c;
}
}  // namespace precede

// B waits for A alone, E for A and C: no nesting of forks has this shape.
namespace any_graph {
long ours() {
  return fj::run([] {
    fj::wait_group a_done, c_done;
    long a = 0, c = 0;
    a_done.add(), c_done.add();
    auto task_a = fj::go([&] { a = 1, a_done.done(); });
    auto task_c = fj::go([&] { c = 2, c_done.done(); });
    auto task_b = fj::go([&] { return a_done.wait(), a * 10; });
    auto task_e = fj::go([&] { return a_done.wait(), c_done.wait(), a + c; });
    const long b = task_b.get();
    task_c.get(), task_a.get();
    return b + c + task_e.get();
  });
}
}  // namespace any_graph

namespace subflow {
long ours() {
  std::atomic<long> sum = 0;
  fj::with_scope([&](fj::scope& s) {
    s.fork([&] {
      fj::with_scope([&](fj::scope& inner) {  // joined before the outer task ends
        inner.fork([&] { sum += 1; });
        inner.fork([&] { sum += 2; });
      });
    });
  });
  return sum;
}
}  // namespace subflow

namespace async {
long ours() {
  fj::future<long> answer = fj::go([] { return 42L; });
  return answer.get();
}
}  // namespace async

// A task that decides what comes next: a loop.
namespace condition {
long ours() {
  long rounds = 0;
  do fj::fork_join([&] { ++rounds; }, [] {});
  while (rounds < 5);
  return rounds;
}
}  // namespace condition

namespace for_each {
long ours() {
  std::vector<long> all = numbers();
  fj::parallel_for(all, [](long& each) { each *= 2; });
  return all[10];
}
}  // namespace for_each

namespace for_each_index {
long ours() {
  std::atomic<long> sum = 0;
  fj::parallel_for(5, 100, 7, [&](int i) { sum += i; });
  return sum;
}
}  // namespace for_each_index

namespace reduce {
long ours() { return fj::parallel_reduce(numbers(), 0L, std::plus<>()); }
}  // namespace reduce

namespace sort {
long ours() {
  std::vector<long> all = numbers();
  fj::parallel_sort(all, std::greater<>());
  return all[0];
}
}  // namespace sort

namespace semaphore {
long ours() {
  fj::semaphore four(4);
  std::atomic<long> now = 0, most = 0;
  fj::fork_each(0, 100, [&](int) {
    four.acquire();
    for (long seen = most, mine = ++now; seen < mine && !most.compare_exchange_weak(seen, mine);) {}
    --now;
    four.release();
  });
  return most <= 4;
}
}  // namespace semaphore

namespace executor {
long ours() {
  fj::runtime two({.procs = 2});
  return two.run([] { return fj::procs(); });
}
}  // namespace executor

}  // namespace

int main() {
  return compare(std::initializer_list<own_row>{
      {"precede", &precede::ours, 231},
      {"any_graph", &any_graph::ours, 15},
      {"subflow", &subflow::ours, 3},
      {"async", &async::ours, 42},
      {"condition", &condition::ours, 5},
      {"for_each", &for_each::ours, 20},
      {"for_each_index", &for_each_index::ours, 707},
      {"reduce", &reduce::ours, 499500},
      {"sort", &sort::ours, 999},
      {"semaphore", &semaphore::ours, 1},
      {"executor", &executor::ours, 2},
  });
}
