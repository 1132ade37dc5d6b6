// From Cilk: each row of the table in forkjoin/guide/moving.md, both ways. Here Cilk's side is compiled as its serial
// elision, which has the same results by Cilk's definition.

#include <atomic>
#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <functional>
#include <numeric>
#include <vector>

#include "examples/moving/rows.hpp"

#define cilk_spawn
#define cilk_sync
#define cilk_scope
#define cilk_for for
#define cilk_reducer(identity, reduce)

namespace {

long sum_of(const std::vector<long>& all) { return std::accumulate(all.begin(), all.end(), 0L); }

namespace spawn {
long fib_by_spawns(int n) {
  if (n < 2) return n;
  const long a = cilk_spawn fib_by_spawns(n - 1);
  const long b = fib_by_spawns(n - 2);
  cilk_sync;
  return a + b;
}
long theirs() { return fib_by_spawns(15); }
long fib_by_forks(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib_by_forks(n - 1); }, [=] { return fib_by_forks(n - 2); });
  return a + b;
}
long ours() {
  return fj::run([] { return fib_by_forks(15); });
}
}  // namespace spawn

// Spawns in a loop, with one sync.
namespace spawn_in_loop {
long theirs() {
  std::atomic<long> sum = 0;
  const auto add = [&](int i) { sum += i; };
  for (int i = 0; i < 100; ++i) cilk_spawn add(i);
  cilk_sync;
  return sum;
}
long ours() {
  std::atomic<long> sum = 0;
  const auto add = [&](int i) { sum += i; };
  fj::with_scope([&](fj::scope& s) {
    for (int i = 0; i < 100; ++i) s.fork([&add, i] { add(i); });
    s.join();
  });
  return sum;
}
}  // namespace spawn_in_loop

namespace scope {
long theirs() {
  long a = 0, b = 0;
  cilk_scope {
    cilk_spawn a = 1;
    b = 2;
  }
  return a + b;
}
long ours() {
  long a = 0, b = 0;
  fj::with_scope([&](fj::scope& s) {
    s.fork([&] { a = 1; });
    b = 2;
  });
  return a + b;
}
}  // namespace scope

namespace loop {
long theirs() {
  std::vector<long> squares(100);
  cilk_for(std::size_t i = 0; i < 100; ++i) squares[i] = static_cast<long>(i * i);
  return sum_of(squares);
}
long ours() {
  std::vector<long> squares(100);
  fj::parallel_for(std::size_t{0}, squares.size(), [&](std::size_t i) { squares[i] = static_cast<long>(i * i); });
  return sum_of(squares);
}
}  // namespace loop

namespace grainsize {
long theirs() {
  std::atomic<long> sum = 0;
  // #pragma cilk grainsize 1
  cilk_for(int i = 0; i < 100; ++i) sum += i;
  return sum;
}
long ours() {
  std::atomic<long> sum = 0;
  fj::parallel_for(0, 100, [&](int i) { sum += i; }, {.grain = 1});
  return sum;
}
}  // namespace grainsize

namespace reducer {
long theirs() {
  long cilk_reducer(zero, add) sum = 0;
  cilk_for(long i = 0; i < 1'000; ++i) sum += i * i;
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
}  // namespace reducer

// In the order of the loop.
namespace list_reducer {
long theirs() {
  std::vector<long> cilk_reducer(empty, append) even;
  cilk_for(long i = 0; i < 100; ++i) if (i % 2 == 0) even.push_back(i);
  return even[10];
}
long ours() {
  const auto add = [](long begin, long end, std::vector<long> even) {
    for (long i = begin; i != end; ++i)
      if (i % 2 == 0) even.push_back(i);
    return even;
  };
  const auto append = [](std::vector<long> a, const std::vector<long>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  return fj::parallel_reduce(0L, 100L, std::vector<long>(), add, append)[10];
}
}  // namespace list_reducer

}  // namespace

int main() {
  return compare({
      {"spawn", &spawn::theirs, &spawn::ours},
      {"spawn_in_loop", &spawn_in_loop::theirs, &spawn_in_loop::ours},
      {"scope", &scope::theirs, &scope::ours},
      {"loop", &loop::theirs, &loop::ours},
      {"grainsize", &grainsize::theirs, &grainsize::ours},
      {"reducer", &reducer::theirs, &reducer::ours},
      {"list_reducer", &list_reducer::theirs, &list_reducer::ours},
  });
}
