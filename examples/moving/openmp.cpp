// From OpenMP: each row of the table in forkjoin/guide/moving.md, both ways.

#include <omp.h>

#include <atomic>
#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <functional>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "examples/moving/rows.hpp"

namespace {

long sum_of(const std::vector<long>& all) { return std::accumulate(all.begin(), all.end(), 0L); }

namespace loop {
long theirs() {
  std::vector<long> squares(100);
#pragma omp parallel for
  for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = static_cast<long>(i * i);
  return sum_of(squares);
}
long ours() {
  std::vector<long> squares(100);
  fj::parallel_for(std::size_t{0}, squares.size(), [&](std::size_t i) { squares[i] = static_cast<long>(i * i); });
  return sum_of(squares);
}
}  // namespace loop

namespace schedule {
long theirs() {
  std::atomic<long> sum = 0;
#pragma omp parallel for schedule(dynamic, 8)
  for (int i = 0; i < 100; ++i) sum += i;
  return sum;
}
long ours() {
  std::atomic<long> sum = 0;
  fj::parallel_for(0, 100, [&](int i) { sum += i; }, {.grain = 8});
  return sum;
}
}  // namespace schedule

namespace collapse {
long theirs() {
  std::vector<long> cells(30 * 40);
#pragma omp parallel for collapse(2)
  for (std::size_t i = 0; i < 30; ++i)
    for (std::size_t j = 0; j < 40; ++j) cells[i * 40 + j] = static_cast<long>(i * j);
  return sum_of(cells);
}
long ours() {
  std::vector<long> cells(30 * 40);
  fj::parallel_for_2d(30, 40, [&](std::size_t i, std::size_t j) { cells[i * 40 + j] = static_cast<long>(i * j); });
  return sum_of(cells);
}
}  // namespace collapse

namespace step {
long theirs() {
  std::atomic<long> sum = 0;
#pragma omp parallel for
  for (int i = 5; i < 100; i += 7) sum += i;
  return sum;
}
long ours() {
  std::atomic<long> sum = 0;
  fj::parallel_for(5, 100, 7, [&](int i) { sum += i; });
  return sum;
}
}  // namespace step

namespace reduction {
long theirs() {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < 1'000; ++i) sum += i * i;
  return sum;
}
long ours() {
  return fj::parallel_reduce(
      0L, 1'000L, 0L,
      [](long begin, long end, long sum) {
        for (long i = begin; i != end; ++i) sum += i * i;
        return sum;
      },
      std::plus<>());
}
}  // namespace reduction

// The greatest value and its place.
using place = std::pair<long, long>;
place greater(const place& a, const place& b) { return b.first > a.first ? b : a; }
long value(long i) { return i * 7'919 % 1'009; }

namespace own_reduction {
#pragma omp declare reduction(greatest:place : omp_out = greater(omp_out, omp_in)) initializer(omp_priv = {-1, -1})
long theirs() {
  place best{-1, -1};
#pragma omp parallel for reduction(greatest : best)
  for (long i = 0; i < 1'000; ++i) best = greater(best, {value(i), i});
  return best.second;
}
long ours() {
  const auto best_of = [](long begin, long end, place best) {
    for (long i = begin; i != end; ++i) best = greater(best, {value(i), i});
    return best;
  };
  return fj::parallel_reduce(0L, 1'000L, place{-1, -1}, best_of, &greater).second;
}
}  // namespace own_reduction

namespace scan {
long theirs() {
  std::vector<long> sums(100);
  long sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
  for (std::size_t i = 0; i < 100; ++i) {
    sum += static_cast<long>(i);
#pragma omp scan inclusive(sum)
    sums[i] = sum;
  }
  return sum_of(sums);
}
long ours() {
  std::vector<long> all(100), sums(100);
  std::iota(all.begin(), all.end(), 0L);
  fj::parallel_inclusive_scan(all.begin(), all.end(), sums.begin());
  return sum_of(sums);
}
}  // namespace scan

namespace sections {
long theirs() {
  long a = 0, b = 0;
#pragma omp parallel sections
  {
#pragma omp section
    a = 1;
#pragma omp section
    b = 2;
  }
  return a + b;
}
long ours() {
  auto [a, b] = fj::fork_join([] { return 1L; }, [] { return 2L; });
  return a + b;
}
}  // namespace sections

namespace task {
long fib_by_tasks(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task shared(a)
  a = fib_by_tasks(n - 1);
  b = fib_by_tasks(n - 2);
#pragma omp taskwait
  return a + b;
}
long theirs() {
  long result = 0;
#pragma omp parallel
#pragma omp single
  result = fib_by_tasks(15);
  return result;
}
long fib_by_forks(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib_by_forks(n - 1); }, [=] { return fib_by_forks(n - 2); });
  return a + b;
}
long ours() {
  return fj::run([] { return fib_by_forks(15); });
}
}  // namespace task

// All descendants of a function's tasks.
namespace taskgroup {
void visit_by_tasks(std::atomic<long>& visits, int n) {
  ++visits;
  for (int next = 2 * n; next <= 2 * n + 1; ++next) {
    if (next >= 1'000) continue;
#pragma omp task shared(visits) firstprivate(next)
    visit_by_tasks(visits, next);
  }
}
long theirs() {
  std::atomic<long> visits = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    visit_by_tasks(visits, 1);
  }
  return visits;
}
void visit_in(fj::scope& all, std::atomic<long>& visits, int n) {
  ++visits;
  for (int next = 2 * n; next <= 2 * n + 1; ++next)
    if (next < 1'000) all.fork([&all, &visits, next] { visit_in(all, visits, next); });
}
long ours() {
  std::atomic<long> visits = 0;
  fj::with_scope([&](fj::scope& all) { visit_in(all, visits, 1); });
  return visits;
}
}  // namespace taskgroup

namespace taskloop {
long theirs() {
  std::atomic<long> sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop
  for (int i = 0; i < 100; ++i) sum += i;
  return sum;
}
long ours() {
  std::atomic<long> sum = 0;
  fj::fork_each(0, 100, [&](int i) { sum += i; });
  return sum;
}
}  // namespace taskloop

namespace critical {
long theirs() {
  long count = 0;
#pragma omp parallel for
  for (int i = 0; i < 100; ++i) {
#pragma omp critical
    ++count;
  }
  return count;
}
long ours() {
  fj::mutex guard;
  long count = 0;
  fj::parallel_for(0, 100, [&](int) {
    const std::scoped_lock lock(guard);
    ++count;
  });
  return count;
}
}  // namespace critical

namespace atomic {
long theirs() {
  long count = 0;
#pragma omp parallel for
  for (int i = 0; i < 100; ++i) {
#pragma omp atomic
    ++count;
  }
  return count;
}
long ours() {
  std::atomic<long> count = 0;
  fj::parallel_for(0, 100, [&](int) { ++count; });
  return count;
}
}  // namespace atomic

namespace ordered {
long theirs() {
  long hash = 0;
#pragma omp parallel for ordered schedule(dynamic)
  for (long i = 0; i < 100; ++i) {
    const long x = i * i;
#pragma omp ordered
    hash = (hash * 31 + x) % 1'000'003;
  }
  return hash;
}
long ours() {
  return fj::fork_reduce(
      0L, 100L, 0L, [](long hash, long x) { return (hash * 31 + x) % 1'000'003; }, [](long i) { return i * i; });
}
}  // namespace ordered

// A value for each part of the loop, which its turns use one after the other.
namespace private_value {
long theirs() {
  std::atomic<long> sum = 0;
#pragma omp parallel
  {
    std::vector<long> room(10);
#pragma omp for
    for (long i = 0; i < 100; ++i) {
      room[0] = i;
      sum += room[0];
    }
  }
  return sum;
}
long ours() {
  std::atomic<long> sum = 0;
  fj::parallel_for_blocks(0L, 100L, [&](long begin, long end) {
    std::vector<long> room(10);
    for (long i = begin; i != end; ++i) {
      room[0] = i;
      sum += room[0];
    }
  });
  return sum;
}
}  // namespace private_value

namespace depend {
long theirs() {
  long a = 0, b = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : a)
    a = 20;
#pragma omp task depend(in : a) depend(out : b)
    b = a + 1;
  }
  return a + b;
}
long ours() {
  fj::future<long> a = fj::go([] { return 20L; });
  const long first = a.get();
  fj::future<long> b = fj::go([=] { return first + 1; });
  return first + b.get();
}
}  // namespace depend

namespace threads {
long theirs() {
  long count = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  count = omp_get_num_threads();
  return count;
}
long ours() {
  fj::runtime two({.procs = 2});
  return two.run([] { return fj::procs(); });
}
}  // namespace threads

namespace thread_number {
long theirs() {
  long number = -1;
#pragma omp parallel num_threads(1)
  number = omp_get_thread_num();
  return number;
}
long ours() {
  fj::runtime one({.procs = 1});
  return one.run([] { return fj::this_proc(); });
}
}  // namespace thread_number

// A search: whether it found something. OpenMP stops early if OMP_CANCELLATION is set.
namespace cancel {
long theirs() {
  std::atomic<bool> found = false;
#pragma omp parallel
#pragma omp for
  for (long i = 0; i < 10'000; ++i) {
    if (i == 77) {
      found = true;
#pragma omp cancel for
    }
#pragma omp cancellation point for
  }
  return found;
}
long ours() {
  fj::stop_source stop;
  const fj::stop_token token = stop.get_token();
  try {
    fj::parallel_for(0L, 10'000L,
                     [&](long i) {
                       if (i == 77) stop.request_stop();
                     },
                     {.stop = &token});
  } catch (const fj::cancelled&) {}
  return token.stop_requested();
}
}  // namespace cancel

}  // namespace

int main() {
  return compare({
      {"loop", &loop::theirs, &loop::ours},
      {"schedule", &schedule::theirs, &schedule::ours},
      {"collapse", &collapse::theirs, &collapse::ours},
      {"step", &step::theirs, &step::ours},
      {"reduction", &reduction::theirs, &reduction::ours},
      {"own_reduction", &own_reduction::theirs, &own_reduction::ours},
      {"scan", &scan::theirs, &scan::ours},
      {"private_value", &private_value::theirs, &private_value::ours},
      {"ordered", &ordered::theirs, &ordered::ours},
      {"sections", &sections::theirs, &sections::ours},
      {"task", &task::theirs, &task::ours},
      {"taskgroup", &taskgroup::theirs, &taskgroup::ours},
      {"taskloop", &taskloop::theirs, &taskloop::ours},
      {"depend", &depend::theirs, &depend::ours},
      {"critical", &critical::theirs, &critical::ours},
      {"atomic", &atomic::theirs, &atomic::ours},
      {"threads", &threads::theirs, &threads::ours},
      {"thread_number", &thread_number::theirs, &thread_number::ours},
      {"cancel", &cancel::theirs, &cancel::ours},
  });
}
