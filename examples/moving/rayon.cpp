// From rayon: each row of the table in forkjoin/guide/moving.md. examples/moving/rayon/src/main.rs has the same rows in
// Rust.

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

namespace join {
long ours() {
  auto [a, b] = fj::fork_join([] { return 1L; }, [] { return 2L; });
  return a + b;
}
}  // namespace join

namespace scope {
long ours() {
  std::atomic<long> sum = 0;
  fj::with_scope([&](fj::scope& s) {
    for (long i = 0; i < 10; ++i) s.fork([&sum, i] { sum += i; });
  });
  return sum;
}
}  // namespace scope

namespace spawn {
long ours() {
  const fj::channel<long> done(1);
  static_cast<void>(fj::go([=] { done.send(42); }));
  return *done.receive();
}
}  // namespace spawn

namespace for_each {
long ours() {
  std::vector<long> all = numbers();
  fj::parallel_for(all, [](long& each) { each *= 2; });
  return all[10];
}
}  // namespace for_each

namespace enumerated {
long ours() {
  std::vector<long> all = numbers();
  fj::parallel_for(std::size_t{0}, all.size(), [&](std::size_t i) { all[i] += static_cast<long>(i); });
  return all[10];
}
}  // namespace enumerated

namespace chunks {
long ours() {
  std::vector<long> all = numbers();
  std::atomic<long> parts = 0;
  fj::parallel_for_blocks(all, [&](auto, auto) { ++parts; }, {.grain = 100});
  return parts;
}
}  // namespace chunks

namespace sum {
long ours() { return fj::parallel_reduce(numbers(), 0L, std::plus<>()); }
}  // namespace sum

namespace map_sum {
long ours() {
  return fj::parallel_transform_reduce(numbers(), 0L, std::plus<>(), [](long x) { return x * x; });
}
}  // namespace map_sum

namespace fold_reduce {
long ours() {
  const auto fold = [](long even, long x) { return even + (x % 2 == 0); };
  return fj::parallel_reduce(numbers(), 0L, fold, std::plus<>());
}
}  // namespace fold_reduce

namespace filter {
long ours() {
  const std::vector<long> all = numbers();
  std::vector<long> even(all.size());
  even.erase(fj::parallel_copy_if(all, even.begin(), [](long x) { return x % 2 == 0; }), even.end());
  return static_cast<long>(even.size());
}
}  // namespace filter

namespace find_first {
long ours() {
  const std::vector<long> all = numbers();
  return *fj::parallel_find_if(all, [](long x) { return x * x > 1'000; });
}
}  // namespace find_first

namespace any {
long ours() {
  const auto is_77 = [](long x) { return x == 77; };
  return fj::parallel_any_of(numbers(), is_77) + 10 * fj::parallel_all_of(numbers(), is_77);
}
}  // namespace any

namespace sort {
long ours() {
  std::vector<long> all = numbers();
  fj::parallel_sort(all, std::greater<>());
  return all[0];
}
}  // namespace sort

namespace sort_by_key {
long ours() {
  std::vector<long> all = numbers();
  fj::parallel_stable_sort(all, {}, [](long x) { return x % 10; });
  return all[1];
}
}  // namespace sort_by_key

namespace pool {
long ours() {
  fj::runtime two({.procs = 2});
  return two.run([] { return fj::procs(); });
}
}  // namespace pool

namespace bridge {
long ours() {
  const fj::channel<long> items(8);  // what an iterator gives that cannot be divided
  std::atomic<long> sum = 0;
  fj::with_scope([&](fj::scope& s) {
    for (unsigned w = 0; w < fj::procs(); ++w) {
      s.fork([&] {
        for (const long each : items) sum += each;
      });
    }
    for (long i = 0; i < 100; ++i) items.send(i);
    items.close();
  });
  return sum;
}
}  // namespace bridge

}  // namespace

int main() {
  return compare(std::initializer_list<own_row>{
      {"join", &join::ours, 3},
      {"scope", &scope::ours, 45},
      {"spawn", &spawn::ours, 42},
      {"for_each", &for_each::ours, 20},
      {"enumerated", &enumerated::ours, 20},
      {"chunks", &chunks::ours, 10},
      {"sum", &sum::ours, 499500},
      {"map_sum", &map_sum::ours, 332833500},
      {"fold_reduce", &fold_reduce::ours, 500},
      {"filter", &filter::ours, 500},
      {"find_first", &find_first::ours, 32},
      {"any", &any::ours, 1},
      {"sort", &sort::ours, 999},
      {"sort_by_key", &sort_by_key::ours, 10},
      {"pool", &pool::ours, 2},
      {"bridge", &bridge::ours, 4950},
  });
}
