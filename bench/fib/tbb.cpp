// The baseline: oneTBB, by its two ways to fork, without cut-off like all the others.
#include <tbb/global_control.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/version.h>

#include "bench/fib/way.hpp"

namespace bench {
namespace tbb_invoke {

long fib(int n) {
  if (n < 2) return n;
  long a, b;
  tbb::parallel_invoke([&a, n] { a = fib(n - 1); }, [&b, n] { b = fib(n - 2); });
  return a + b;
}

long flat(long count) {
  long leaves = 0;
  for (long i = 0; i < count; ++i) {
    long a, b;
    tbb::parallel_invoke([&a] { a = leaf(); }, [&b] { b = leaf(); });
    leaves += a + b;
  }
  return leaves;
}

}  // namespace tbb_invoke

// One branch is spawned, the other called: cheaper than the two `run` of oneTBB's introductory example.
namespace tbb_group {

long fib(int n) {
  if (n < 2) return n;
  long a;
  tbb::task_group g;
  g.run([&a, n] { a = fib(n - 1); });
  const long b = fib(n - 2);
  g.wait();
  return a + b;
}

long flat(long count) {
  long leaves = 0;
  for (long i = 0; i < count; ++i) {
    long a;
    tbb::task_group g;
    g.run([&a] { a = leaf(); });
    const long b = leaf();
    g.wait();
    leaves += a + b;
  }
  return leaves;
}

}  // namespace tbb_group

namespace {

// The arena bounds who works on this, the global control bounds the threads that exist at all.
template <long (*Fib)(int), long (*Flat)(long)>
class tbb_team final : public team {
 public:
  explicit tbb_team(int procs)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(procs)), arena_(procs) {}

  long fib(int n) override {
    return arena_.execute([n] { return Fib(n); });
  }
  long flat(long count) override {
    return arena_.execute([count] { return Flat(count); });
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

template <long (*Fib)(int), long (*Flat)(long)>
std::unique_ptr<team> assemble(int procs) {
  return std::make_unique<tbb_team<Fib, Flat>>(procs);
}

}  // namespace

std::vector<way> tbb_ways() {
  return {{"tbb_invoke", true, assemble<tbb_invoke::fib, tbb_invoke::flat>},
          {"tbb_group", true, assemble<tbb_group::fib, tbb_group::flat>}};
}

std::string tbb_description() { return TBB_runtime_version(); }

}  // namespace bench
