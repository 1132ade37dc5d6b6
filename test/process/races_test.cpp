// ThreadSanitizer reports the races of users, on whatever strands their sides run, and nothing else. Only in builds
// with it.
//
// Each of these bugs was tried. "one by one" is not reported if switches of stacks order, or if the detector knows
// deques by their first member, which every push releases. "correct" is reported without the acquire at the end of a
// join, and if the detector sees the workers' looks at joins. "never stolen" is not reported if workers' looks at
// deques order. The program that is too short for a thief is not reported if a strand's preparations to suspend order.
// "caches in order" is reported if thread_order is ignored where strands leave or come.

#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

int shared = 0;
long sum = 0;

// Both sides run at the same time, and nothing orders them.
class meeting {
 public:
  void wait_for_other() {
    there_.fetch_add(1, std::memory_order_relaxed);
    test::spin_until([this] { return there_.load(std::memory_order_relaxed) >= 2; });
  }

 private:
  std::atomic<int> there_{0};
};

void child_and_continuation() {
  meeting both;
  fj::scope s;
  s.fork([&] {
    both.wait_for_other();
    ++shared;
  });
  both.wait_for_other();
  ++shared;
}

void child_before_join() {
  meeting both;
  fj::scope s;
  s.fork([&] {
    shared = 1;
    both.wait_for_other();
  });
  both.wait_for_other();
  sum += shared;  // before the join
  s.join();
}

void two_children() {
  meeting both;
  fj::scope s;
  for (int i = 0; i < 2; ++i)
    s.fork([&] {
      both.wait_for_other();
      ++shared;
    });
}

void child_and_its_child() {
  meeting both;
  fj::scope s;
  s.fork([&] {
    s.fork([&] {
      both.wait_for_other();
      ++shared;
    });
    both.wait_for_other();
    ++shared;
  });
}

// One after the other, on one thread or two, and still not ordered: a thief takes the continuation when the child is at
// its end. More than once, because a deque that the child has made does order them.
void one_by_one() {
  for (int i = 0; i < 50; ++i) {
    fj::scope s;
    s.fork([] { ++shared; });
    ++shared;
  }
}

void with_fork_join() {
  meeting both;
  const auto side = [&] {
    both.wait_for_other();
    ++shared;
  };
  fj::fork_join(side, side);
}

// Everything that users may rely on: parent before child and before its continuation, child before join, also for joins
// of other strands.
void correct() {
  for (int i = 0; i < 300; ++i) {
    int before = 1, by_child = 0, by_grandchild = 0, by_other = 0, by_continuation = 0;
    fj::scope s;
    s.fork([&] {
      by_child = before;
      s.fork([&] { by_grandchild = before + 1; });
    });
    by_continuation = before + 2;
    fj::fork_join([&] { s.fork([&] { by_other = by_continuation; }); }, [] {});
    s.join();
    before = 0;
    sum += by_child + by_grandchild + by_other;
    by_child = by_grandchild = by_other = by_continuation = 0;
    s.fork([&] { ++before; });
  }
}

// A plain program that is too short for a thief to come: if its fork is stolen by need (tried), the race is not
// reported.
void never_stolen() {
  fj::fork_join([] { ++shared; }, [] { ++shared; });
}

void never_stolen_from_scope() {
  fj::scope s;
  s.fork([] { ++shared; });
  ++shared;
}

// More than once: of two accesses at the very same time the detector may miss both.
void fork_joins() {
  for (int i = 0; i < 5; ++i) with_fork_join();
}

struct counted {
  volatile long uses = 0;
  ~counted() { uses = 0; }  // when the thread ends: after all strands, because the runtime ends first
};

[[gnu::noinline]] void use_cache() {
  static thread_local counted cache;
  asm volatile("" ::: "memory");
  cache.uses = cache.uses + 1;
}

// Correct as long as no switch of strands happens in the middle of a use; but a fork's branches are strands.
void per_thread_caches() { fj::fork_join(&use_cache, &use_cache); }

void many_caches(int depth) {
  use_cache();
  if (depth > 0) {
    fj::fork_join([=] { many_caches(depth - 1); }, [=] { many_caches(depth - 1); });
    fj::scope s;
    s.fork([=] { many_caches(depth - 2); });
    use_cache();
  }
}

void many_caches_of_strands() { many_caches(6); }

struct program {
  const char* name;
  void (*run)();
  bool races;
  std::vector<test::stealing> ways = {test::stealing::by_need};
  const char* steal_every_fork = nullptr;  // in the environment, as the next
  const char* thread_order = nullptr;
  unsigned procs = 4;
};
const program programs[] = {
    {"child and continuation", &child_and_continuation, true},
    {"child before join", &child_before_join, true},
    {"two children", &two_children, true},
    {"child and its child", &child_and_its_child, true},
    {"fork_join", &with_fork_join, true},
    {"one by one", &one_by_one, true, {test::stealing::every_fork}},
    {"never stolen", &never_stolen, true, {test::stealing::by_need}, "1"},
    {"never stolen, from a scope", &never_stolen_from_scope, true, {test::stealing::by_need}, "1"},
    {"caches", &per_thread_caches, true, {test::stealing::every_fork}, nullptr, nullptr, 1},
    {"caches in order", &per_thread_caches, false, {test::stealing::every_fork}, nullptr, "1", 1},
    {"many caches in order", &many_caches_of_strands, false, {test::stealing::every_fork}, nullptr, "1"},
    {"fork_join in order", &fork_joins, true, {test::stealing::by_need}, nullptr, "1"},
    {"correct", &correct, false, {test::stealing::by_need, test::stealing::every_fork}},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    for (const program& p : programs) {
      if (argv[1] != std::string(p.name)) continue;
      fj::runtime rt(test::with(p.procs, static_cast<test::stealing>(argv[2][0] - '0')));
      rt.run(p.run);
    }
    return 0;
  }
  test::verdict verdict;
  for (const program& p : programs)
    for (const test::stealing how : p.ways) {
      const test::environment steal("FORKJOIN_STEAL_EVERY_FORK", p.steal_every_fork),
          order("FORKJOIN_TSAN_THREAD_ORDER", p.thread_order);
      const test::ending end = test::run_again({p.name, std::to_string(static_cast<int>(how))});
      const std::string what = std::string(p.name) + ", " + name_of(how);
      const bool reported = end.said.find("data race") != std::string::npos;
      verdict.check(reported == p.races, what + (reported ? ": reported\n" + end.said : ": not reported"));
      verdict.check(end.signal == 0 && (end.code != 0) == p.races, what + ": ended with " + std::to_string(end.code));
    }
  return verdict.exit_code();
}
