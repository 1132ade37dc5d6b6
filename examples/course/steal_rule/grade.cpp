// Grades lab 4: the rule is asked by a worker that is none, whose visits are written down. Whether the rule is faster
// is for ./dev bench --steal-rule to say.
#include ANSWER

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace {

using fj::detail::steal_rule;

// What a rule asks of the library's classes, with as many Ps as wanted.
struct processor {
  unsigned index = 0;
};
struct processors {
  std::vector<processor> each;
  std::vector<unsigned> strides = {};
  explicit processors(unsigned count) : each(count) {
    for (unsigned i = 0; i < count; ++i) {
      each[i].index = i;
      if (std::gcd(i + 1, count) == 1) strides.push_back(i + 1);
    }
  }
  unsigned count() const { return static_cast<unsigned>(each.size()); }
  std::uint32_t steps() const { return static_cast<std::uint32_t>(strides.size()); }
  unsigned step(std::uint32_t i) const { return strides.at(i); }
  processor& operator[](unsigned i) { return each.at(i); }
  template <class Visit>
  void for_each(unsigned first, unsigned step, Visit visit) {
    for (unsigned i = 0, at = first; i < count(); ++i, at = (at + step) % count()) {
      int deque = 0;
      if (!visit(each.at(at), deque)) return;
    }
  }
};
struct worker {
  processors* of;
  processor* proc;
  struct {
    std::mt19937 engine = std::mt19937(1);
    std::uint32_t below(std::uint32_t n) { return engine() % n; }
  } dice = {};
  worker& sched() { return *this; }
  processors& all() { return *of; }
};

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s\n", what);
  std::exit(1);
}

// The P that a thief visits in a round, until it has visited so many.
std::vector<unsigned> visited(worker& thief, std::size_t most) {
  std::vector<unsigned> all;
  steal_rule::each_victim(thief, [&](processor& p, int&) {
    all.push_back(p.index);
    return all.size() < most;
  });
  return all;
}

void check(unsigned count, unsigned index) {
  processors all(count);
  worker thief{&all, &all.each[index]};
  const unsigned half = count / 2, begin = index < half ? 0 : half, near = index < half ? half : count - half;
  std::vector<unsigned> times_first(count);
  constexpr unsigned rounds = 2'000;
  for (unsigned round = 0; round < rounds; ++round) {
    const std::vector<unsigned> order = visited(thief, count);
    std::vector<unsigned> sorted = order;
    std::ranges::sort(sorted);
    for (unsigned i = 0; i < count; ++i)
      expect(sorted.size() == count && sorted[i] == i, "a round does not visit each P once");
    for (unsigned i = 0; i < near; ++i)
      expect(order[i] >= begin && order[i] < begin + near, "a thief visits the other node before it has seen its own");
    ++times_first[order[0]];
  }
  for (unsigned i = begin; i < begin + near; ++i)
    expect(times_first[i] > rounds / near / 2,
           "all thieves of a node begin with the same P, and wait for one another there");
  expect(visited(thief, 1).size() == 1, "a round goes on although visit returned false");
}

}  // namespace

int main() {
  for (const unsigned count : {1u, 2u, 3u, 8u, 64u})
    for (const unsigned index : {0u, count / 2, count - 1}) check(count, index);
  for (const std::uint64_t records : {1u, 2u, 3u, 1'000u}) {
    const std::uint64_t made = steal_rule::made_public(records);
    expect(made >= 1 && made <= records, "made_public: at least one record, at most all");
  }
  expect(steal_rule::until_force_ns >= 0 && steal_rule::until_sleep_ns > 0 && steal_rule::between_thefts_ns >= 0,
         "a time is negative");
}
