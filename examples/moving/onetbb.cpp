// From oneTBB: each row of the table in forkjoin/guide/moving.md, both ways.

#include <tbb/tbb.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "examples/moving/rows.hpp"

namespace {

long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
long sum_of(const std::vector<long>& all) { return std::accumulate(all.begin(), all.end(), 0L); }
std::vector<long> numbers() {
  std::vector<long> all(1'000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<long>(i * 7'919 % 1'009);
  return all;
}

namespace invoke {
long theirs() {
  long a = 0, b = 0;
  tbb::parallel_invoke([&] { a = fib(10); }, [&] { b = fib(11); });
  return a + b;
}
long ours() {
  auto [a, b] = fj::fork_join([] { return fib(10); }, [] { return fib(11); });
  return a + b;
}
}  // namespace invoke

namespace loop {
long theirs() {
  std::vector<long> squares(100);
  tbb::parallel_for(std::size_t{0}, squares.size(), [&](std::size_t i) { squares[i] = static_cast<long>(i * i); });
  return sum_of(squares);
}
long ours() {
  std::vector<long> squares(100);
  fj::parallel_for(std::size_t{0}, squares.size(), [&](std::size_t i) { squares[i] = static_cast<long>(i * i); });
  return sum_of(squares);
}
}  // namespace loop

namespace blocks {
long theirs() {
  std::vector<long> all = numbers();
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, all.size()), [&](const tbb::blocked_range<std::size_t>& part) {
    for (std::size_t i = part.begin(); i != part.end(); ++i) all[i] *= 2;
  });
  return sum_of(all);
}
long ours() {
  std::vector<long> all = numbers();
  fj::parallel_for_blocks(std::size_t{0}, all.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i != end; ++i) all[i] *= 2;
  });
  return sum_of(all);
}
}  // namespace blocks

namespace grain {
long theirs() {
  std::atomic<long> parts = 0;
  tbb::parallel_for(tbb::blocked_range<int>(0, 1'024, 64), [&](auto&) { ++parts; }, tbb::simple_partitioner());
  return parts;
}
long ours() {
  std::atomic<long> parts = 0;
  fj::parallel_for_blocks(0, 1'024, [&](int, int) { ++parts; }, {.grain = 64});
  return parts;
}
}  // namespace grain

namespace matrix {
long theirs() {
  std::vector<long> cells(30 * 40);
  tbb::parallel_for(tbb::blocked_range2d<std::size_t>(0, 30, 0, 40), [&](const auto& part) {
    for (std::size_t i = part.rows().begin(); i != part.rows().end(); ++i)
      for (std::size_t j = part.cols().begin(); j != part.cols().end(); ++j)
        cells[i * 40 + j] = static_cast<long>(i * j);
  });
  return sum_of(cells);
}
long ours() {
  std::vector<long> cells(30 * 40);
  fj::parallel_for_2d(30, 40, [&](std::size_t i, std::size_t j) { cells[i * 40 + j] = static_cast<long>(i * j); });
  return sum_of(cells);
}
}  // namespace matrix

namespace tiles {
long theirs() {
  std::vector<long> cells(30 * 40);
  tbb::parallel_for(tbb::blocked_range2d<int>(1, 29, 1, 39), [&](const tbb::blocked_range2d<int>& part) {
    for (int i = part.rows().begin(); i != part.rows().end(); ++i)
      for (int j = part.cols().begin(); j != part.cols().end(); ++j)
        cells[static_cast<std::size_t>(i * 40 + j)] = i - j;
  });
  return sum_of(cells);
}
long ours() {
  std::vector<long> cells(30 * 40);
  fj::parallel_for_2d(1, 29, 1, 39, [&](int first_row, int last_row, int first_column, int last_column) {
    for (int i = first_row; i != last_row; ++i)
      for (int j = first_column; j != last_column; ++j) cells[static_cast<std::size_t>(i * 40 + j)] = i - j;
  });
  return sum_of(cells);
}
}  // namespace tiles

namespace for_each {
long theirs() {
  std::vector<long> all = numbers();
  tbb::parallel_for_each(all, [](long& each) { ++each; });
  return sum_of(all);
}
long ours() {
  std::vector<long> all = numbers();
  fj::parallel_for(all, [](long& each) { ++each; });
  return sum_of(all);
}
}  // namespace for_each

namespace feeder {
long theirs() {
  std::atomic<long> visits = 0;
  tbb::parallel_for_each(std::vector{1}, [&](int n, tbb::feeder<int>& more) {
    ++visits;
    for (const int next : {2 * n, 2 * n + 1})
      if (next < 1'000) more.add(next);
  });
  return visits;
}
long ours() {
  std::atomic<long> visits = 0;
  fj::parallel_for_each(std::vector{1}, [&](int n, fj::feeder<int>& more) {
    ++visits;
    for (const int next : {2 * n, 2 * n + 1})
      if (next < 1'000) more.add(next);
  });
  return visits;
}
}  // namespace feeder

namespace reduce {
long theirs() {
  const std::vector<long> all = numbers();
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, all.size()), 0L,
      [&](const tbb::blocked_range<std::size_t>& part, long sum) {
        for (std::size_t i = part.begin(); i != part.end(); ++i) sum += all[i];
        return sum;
      },
      std::plus<>());
}
long ours() {
  const std::vector<long> all = numbers();
  return fj::parallel_reduce(
      std::size_t{0}, all.size(), 0L,
      [&](std::size_t begin, std::size_t end, long sum) {
        for (std::size_t i = begin; i != end; ++i) sum += all[i];
        return sum;
      },
      std::plus<>());
}
}  // namespace reduce

// Whether two runs have the same sum, to the last bit.
namespace deterministic {
long theirs() {
  const auto sum = [] {
    return tbb::parallel_deterministic_reduce(
        tbb::blocked_range<int>(1, 10'000), 0.0,
        [](const tbb::blocked_range<int>& part, double value) {
          for (int i = part.begin(); i != part.end(); ++i) value += 1.0 / i;
          return value;
        },
        std::plus<>());
  };
  return std::equal_to<>()(sum(), sum());
}
long ours() {
  const auto sum = [] {
    return fj::parallel_reduce(
        1, 10'000, 0.0,
        [](int begin, int end, double value) {
          for (int i = begin; i != end; ++i) value += 1.0 / i;
          return value;
        },
        std::plus<>());
  };
  return std::equal_to<>()(sum(), sum());
}
}  // namespace deterministic

namespace scan {
long theirs() {
  const std::vector<long> all = numbers();
  std::vector<long> sums(all.size());
  tbb::parallel_scan(
      tbb::blocked_range<std::size_t>(0, all.size()), 0L,
      [&](const tbb::blocked_range<std::size_t>& part, long sum, bool is_final) {
        for (std::size_t i = part.begin(); i != part.end(); ++i) {
          sum += all[i];
          if (is_final) sums[i] = sum;
        }
        return sum;
      },
      std::plus<>());
  return sum_of(sums);
}
long ours() {
  const std::vector<long> all = numbers();
  std::vector<long> sums(all.size());
  fj::parallel_scan(
      std::size_t{0}, all.size(), 0L,
      [&](std::size_t begin, std::size_t end, long sum, bool is_final) {
        for (std::size_t i = begin; i != end; ++i) {
          sum += all[i];
          if (is_final) sums[i] = sum;
        }
        return sum;
      },
      std::plus<>());
  return sum_of(sums);
}
}  // namespace scan

namespace sort {
long theirs() {
  std::vector<long> all = numbers();
  tbb::parallel_sort(all.begin(), all.end(), std::greater<>());
  return all[10];
}
long ours() {
  std::vector<long> all = numbers();
  fj::parallel_sort(all.begin(), all.end(), std::greater<>());
  return all[10];
}
}  // namespace sort

namespace group {
long theirs() {
  std::atomic<long> sum = 0;
  tbb::task_group tasks;
  for (int i = 0; i < 10; ++i) tasks.run([&sum, i] { sum += fib(i); });
  tasks.wait();
  return sum;
}
long ours() {
  std::atomic<long> sum = 0;
  fj::with_scope([&](fj::scope& tasks) {
    for (int i = 0; i < 10; ++i) tasks.fork([&sum, i] { sum += fib(i); });
  });
  return sum;
}
}  // namespace group

// Of an object, which starts them and waits in different functions.
namespace group_member {
template <class Group>
struct sums {
  std::atomic<long> sum = 0;
  Group tasks;
  void start() {
    for (int i = 0; i < 10; ++i) tasks.run([this, i] { sum += fib(i); });
  }
  long finish() {
    tasks.wait();
    return sum;
  }
};
long theirs() {
  sums<tbb::task_group> all;
  all.start();
  return all.finish();
}
long ours() {
  sums<fj::task_group> all;
  all.start();
  return all.finish();
}
}  // namespace group_member

// The first task stops the others of the group.
namespace cancel {
long theirs() {
  tbb::task_group tasks;
  tasks.run([&] { tasks.cancel(); });
  return tasks.wait() == tbb::canceled;
}
long ours() {
  fj::stop_source stop;
  try {
    fj::with_scope(stop.get_token(), [&](fj::scope& tasks) {
      tasks.fork([&] { stop.request_stop(); });
      tasks.join();
      tasks.fork([] {});  // does not start
    });
  } catch (const fj::cancelled&) {
    return 1;
  }
  return 0;
}
}  // namespace cancel

namespace combinable {
long theirs() {
  tbb::combinable<long> sums([] { return 0L; });
  tbb::parallel_for(0, 1'000, [&](int i) { sums.local() += i; });
  return sums.combine(std::plus<>());
}
long ours() {
  fj::combinable<long> sums;
  fj::parallel_for(0, 1'000, [&](int i) { sums.with_local([&](long& mine) { mine += i; }); });
  return sums.combine(std::plus<>());
}
}  // namespace combinable

namespace arena {
long theirs() {
  tbb::task_arena two(2);
  return two.execute([] { return tbb::this_task_arena::max_concurrency(); });
}
long ours() {
  fj::runtime two({.procs = 2});
  return two.run([] { return fj::procs(); });
}
}  // namespace arena

namespace index {
long theirs() {
  tbb::task_arena one(1);
  return one.execute([] { return tbb::this_task_arena::current_thread_index(); });
}
long ours() {
  fj::runtime one({.procs = 1});
  return one.run([] { return fj::this_proc(); });
}
}  // namespace index

namespace queue {
long theirs() {
  tbb::concurrent_bounded_queue<long> line;
  line.set_capacity(4);
  tbb::task_group tasks;
  tasks.run([&] {
    for (long i = 1; i <= 4; ++i) line.push(i);
  });
  tasks.wait();
  long sum = 0, each = 0;
  while (line.try_pop(each)) sum += each;
  return sum;
}
long ours() {
  const fj::channel<long> line(2);  // less room than values: the sender waits for the receiver
  auto sender = fj::go([=] {
    for (long i = 1; i <= 4; ++i) line.send(i);
    line.close();
  });
  long sum = 0;
  for (const long each : line) sum += each;
  sender.get();
  return sum;
}
}  // namespace queue

namespace collect {
long theirs() {
  tbb::concurrent_vector<long> even;
  tbb::parallel_for_each(numbers(), [&](long each) {
    if (each % 2 == 0) even.push_back(each);
  });
  return static_cast<long>(even.size());
}
long ours() {
  const std::vector<long> all = numbers();
  std::vector<long> even(all.size());
  even.erase(fj::parallel_copy_if(all, even.begin(), [](long each) { return each % 2 == 0; }), even.end());
  return static_cast<long>(even.size());
}
}  // namespace collect

namespace mutex {
long theirs() {
  tbb::spin_mutex guard;
  long count = 0;
  tbb::parallel_for(0, 100, [&](int) {
    const tbb::spin_mutex::scoped_lock lock(guard);
    ++count;
  });
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
}  // namespace mutex

#ifndef FORKJOIN_TBB
namespace once {
long theirs() {
  tbb::collaborative_once_flag first;
  std::atomic<long> calls = 0;
  tbb::parallel_for(0, 100, [&](int) { tbb::collaborative_call_once(first, [&] { ++calls; }); });
  return calls;
}
long ours() {
  fj::once first;
  std::atomic<long> calls = 0;
  fj::parallel_for(0, 100, [&](int) { first.call([&] { ++calls; }); });
  return calls;
}
}  // namespace once
#endif

#ifndef FORKJOIN_TBB
// A task waits for something that a thread outside gives.
namespace suspend {
long theirs() {
  long given = 0;
  std::thread outside;
  tbb::task_group tasks;
  tasks.run_and_wait([&] {
    tbb::task::suspend([&](tbb::task::suspend_point here) {
      outside = std::thread([&, here] {
        given = 42;
        tbb::task::resume(here);
      });
    });
  });
  outside.join();
  return given;
}
long ours() {
  const fj::channel<long> given(1);
  std::thread outside([=] { given.send(42); });
  const std::optional<long> got = fj::run([&] { return given.receive(); });
  outside.join();
  return *got;
}
}  // namespace suspend
#endif

namespace pipeline {
long theirs() {
  long next = 0, hash = 0;
  tbb::parallel_pipeline(8,
                         tbb::make_filter<void, long>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& end) {
                           if (next == 100) end.stop();
                           return next++;
                         }) & tbb::make_filter<long, long>(tbb::filter_mode::parallel, [](long x) {
                           return x * x;
                         }) & tbb::make_filter<long, void>(tbb::filter_mode::serial_in_order, [&](long x) {
                           hash = (hash * 31 + x) % 1'000'003;
                         }));
  return hash;
}
long ours() {
  return fj::fork_reduce(
      0L, 100L, 0L, [](long hash, long x) { return (hash * 31 + x) % 1'000'003; }, [](long i) { return i * i; },
      {.grain = 16});
}
}  // namespace pipeline

#ifndef FORKJOIN_TBB
namespace graph {
long theirs() {
  long sum = 0;
  tbb::flow::graph all;
  tbb::flow::function_node<long, long> square(all, tbb::flow::unlimited, [](long x) { return x * x; });
  tbb::flow::function_node<long> add(all, tbb::flow::serial, [&](long x) { sum += x; });
  tbb::flow::make_edge(square, add);
  for (long i = 0; i < 10; ++i) square.try_put(i);
  all.wait_for_all();
  return sum;
}
long ours() {
  const fj::channel<long> squares(4);
  auto square = fj::go([=] {
    fj::fork_each(0L, 10L, [&](long i) { squares.send(i * i); });
    squares.close();
  });
  long sum = 0;
  for (const long each : squares) sum += each;
  square.get();
  return sum;
}
}  // namespace graph
#endif

}  // namespace

int main() {
  return compare({
      {"invoke", &invoke::theirs, &invoke::ours},
      {"loop", &loop::theirs, &loop::ours},
      {"blocks", &blocks::theirs, &blocks::ours},
      {"grain", &grain::theirs, &grain::ours},
      {"matrix", &matrix::theirs, &matrix::ours},
      {"tiles", &tiles::theirs, &tiles::ours},
      {"for_each", &for_each::theirs, &for_each::ours},
      {"feeder", &feeder::theirs, &feeder::ours},
      {"reduce", &reduce::theirs, &reduce::ours},
      {"deterministic", &deterministic::theirs, &deterministic::ours},
      {"scan", &scan::theirs, &scan::ours},
      {"sort", &sort::theirs, &sort::ours},
      {"group", &group::theirs, &group::ours},
      {"group_member", &group_member::theirs, &group_member::ours},
      {"cancel", &cancel::theirs, &cancel::ours},
      {"combinable", &combinable::theirs, &combinable::ours},
      {"arena", &arena::theirs, &arena::ours},
      {"index", &index::theirs, &index::ours},
      {"mutex", &mutex::theirs, &mutex::ours},
      {"pipeline", &pipeline::theirs, &pipeline::ours},
      {"queue", &queue::theirs, &queue::ours},
      {"collect", &collect::theirs, &collect::ours},
#ifndef FORKJOIN_TBB  // by forkjoin's own headers of that name, which have none of these
      {"once", &once::theirs, &once::ours},
      {"suspend", &suspend::theirs, &suspend::ours},
      {"graph", &graph::theirs, &graph::ours},
#endif
  });
}
