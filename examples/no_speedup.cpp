// Four programs that do not get faster with more Ps, each for another reason. forkjoin/guide/tracing.md finds the
// reasons in traces.
//
//   FORKJOIN_TRACE=lock.trace no_speedup lock 100; forkjoin-trace summary lock.trace

// libstdc++'s inplace_merge uses a function that it calls deprecated, and clang warns its users.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <vector>

namespace {

std::uint64_t hash(std::uint64_t n) {
  n = (n ^ n >> 33) * 0xff51afd7ed558ccdu;
  return n ^ n >> 33;
}

// Works for about that many nanoseconds.
std::uint64_t compute(std::uint64_t seed, int nanoseconds) {
  for (int i = 0; i < nanoseconds / 2; ++i) seed = hash(seed);
  return seed;
}

// Too little work in the leaves: every job is over before a thief has got much of it.
std::uint64_t leaves(int times) {
  std::uint64_t sum = 0;
  for (int i = 0; i < 20 * times; ++i) {
    auto [a, b] = fj::fork_join([i] { return compute(static_cast<std::uint64_t>(i), 1'500); },
                                [i] { return compute(static_cast<std::uint64_t>(-i), 1'500); });
    sum += a + b;
  }
  return sum;
}

// Branches take turns at one lock.
std::uint64_t lock(int times) {
  fj::mutex guard;
  std::uint64_t sum = 0;
  fj::fork_each(0, times, [&](int i) {
    const std::lock_guard held(guard);
    sum += compute(static_cast<std::uint64_t>(i), 200'000);
  });
  return sum;
}

// Halves are sorted in parallel, and merged by one strand.
void merge_sort(std::uint64_t* begin, std::uint64_t* end) {
  if (end - begin < 20'000) return std::sort(begin, end);
  std::uint64_t* const middle = begin + (end - begin) / 2;
  fj::fork_join([=] { merge_sort(begin, middle); }, [=] { merge_sort(middle, end); });
  std::inplace_merge(begin, middle, end);
}
std::uint64_t serial(int times) {
  std::vector<std::uint64_t> numbers(static_cast<std::size_t>(times) * 20'000);
  for (std::size_t i = 0; i != numbers.size(); ++i) numbers[i] = hash(i);
  merge_sort(numbers.data(), numbers.data() + numbers.size());
  return numbers.front();
}

// All P write to the same cache lines: each counter is next to the other ones.
std::uint64_t memory(int times) {
  std::vector<std::uint64_t> counters(8);
  fj::fork_each(0, 8, [&](int mine) {
    volatile std::uint64_t& counter = counters[static_cast<std::size_t>(mine)];
    for (int i = 0; i < 100'000 * times; ++i) counter = counter + 1;
  });
  return std::accumulate(counters.begin(), counters.end(), std::uint64_t{0});
}

}  // namespace

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "all";
  const int times = count > 2 ? std::atoi(arguments[2]) : 2;
  const struct {
    const char* name;
    std::uint64_t (*run)(int);
  } programs[] = {{"leaves", &leaves}, {"lock", &lock}, {"serial", &serial}, {"memory", &memory}};
  for (const auto& each : programs) {
    if (std::strcmp(what, "all") != 0 && std::strcmp(what, each.name) != 0) continue;
    const std::uint64_t found = fj::run([&] { return each.run(times); });
    std::printf("%s: %llx\n", each.name, static_cast<unsigned long long>(found));
  }
}
