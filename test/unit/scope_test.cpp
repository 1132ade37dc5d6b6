// Scopes: results, loops, helpers, other strands, exceptions, cancellation, with every number of P and way of stealing.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "test/support.hpp"

namespace {

using test::for_each_runtime;
using test::stealing;

long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  fj::scope s;
  s.fork([&a, n] { a = fib(n - 1); });
  b = fib(n - 2);
  s.join();
  return a + b;
}

// Forks into the given scope, from any strand.
void walk(fj::scope& s, std::atomic<long>& leaves, int depth) {
  if (depth == 0) {
    ++leaves;
    return;
  }
  s.fork([&s, &leaves, depth] { walk(s, leaves, depth - 1); });
  walk(s, leaves, depth - 1);
}

struct failure : std::runtime_error {
  explicit failure(int n) : std::runtime_error(std::to_string(n)), number(n) {}
  int number;
};

template <class F>
int number_thrown(F f) {
  try {
    f();
  } catch (const failure& e) {
    return e.number;
  }
  return -1;
}

}  // namespace

TEST_CASE("scope: recursion") {
  for_each_runtime("scope: recursion",
                   [](fj::runtime& rt, unsigned, stealing) { CHECK(rt.run([] { return fib(15); }) == 610); });
}

TEST_CASE("scope: a loop of forks, joined several times") {
  for_each_runtime("scope: loop", [](fj::runtime& rt, unsigned, stealing) {
    std::vector<int> seen(300);
    rt.run([&] {
      fj::scope s;
      for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 100; ++i)
          s.fork([&seen, i, round] { seen[static_cast<std::size_t>(round * 100 + i)] = i + 1; });
        s.join();
        long sum = 0;
        for (int i = 0; i < 100; ++i) sum += seen[static_cast<std::size_t>(round * 100 + i)];
        CHECK(sum == 5050);
      }
    });
  });
}

TEST_CASE("scope: helpers that get the scope by reference fork from any strand below it") {
  for_each_runtime("scope: helpers", [](fj::runtime& rt, unsigned, stealing) {
    std::atomic<long> leaves{0};
    rt.run([&] {
      fj::scope s;
      walk(s, leaves, 8);
      s.join();
      CHECK(leaves == 256);
      // From both sides of a fork_join below it.
      fj::fork_join([&] { walk(s, leaves, 4); }, [&] { walk(s, leaves, 4); });
      s.join();
      CHECK(leaves == 288);
    });
  });
}

TEST_CASE("scope: with one P the order is the serial one") {
  fj::runtime rt(test::with_procs(1));
  std::vector<int> order;
  rt.run([&] {
    fj::scope s;
    for (int i = 0; i < 5; ++i) {
      order.push_back(10 * i);
      s.fork([&order, i] {
        order.push_back(10 * i + 1);
        fj::scope inner;
        inner.fork([&order, i] { order.push_back(10 * i + 2); });
        order.push_back(10 * i + 3);
      });
      order.push_back(10 * i + 4);
    }
    s.join();
  });
  std::vector<int> expected;
  for (int i = 0; i < 5; ++i)
    for (int k = 0; k < 5; ++k) expected.push_back(10 * i + k);
  CHECK(order == expected);
}

TEST_CASE("scope: mixed with fork_join of both policies") {
  for_each_runtime("scope: mixed", [](fj::runtime& rt, unsigned, stealing) {
    const auto both = [](auto policy) {
      std::atomic<long> done{0};
      const auto work = [&done] {
        fj::scope s;
        for (int i = 0; i < 20; ++i) s.fork([&done] { done += fib(5); });
      };
      fj::fork_join<decltype(policy)>(work, [&] { fj::fork_join<decltype(policy)>(work, work); });
      return done.load();
    };
    CHECK(rt.run([&] { return both(fj::continuations()); }) == 300);
    CHECK(rt.run([&] { return both(fj::tasks()); }) == 300);
  });
}

TEST_CASE("scope: closures are moved, destroyed once, and may be large or aligned") {
  for_each_runtime("scope: closures", [](fj::runtime& rt, unsigned, stealing) {
    rt.run([] {
      auto owner = std::make_shared<int>(7);
      std::atomic<int> sum{0};
      {
        fj::scope s;
        for (int i = 0; i < 10; ++i) s.fork([&sum, only = std::make_unique<int>(i), owner] { sum += *only + *owner; });
        struct alignas(64) wide {
          char bytes[20'000] = {1};
        };
        s.fork([&sum, w = wide()] {
          CHECK(reinterpret_cast<std::uintptr_t>(&w) % 64 == 0);
          sum += w.bytes[0];
        });
        const auto lvalue = [&sum] { sum += 1000; };
        s.fork(lvalue);
      }
      CHECK(sum == 45 + 70 + 1 + 1000);
      CHECK(owner.use_count() == 1);
    });
  });
}

TEST_CASE("scope: a closure that throws while it is moved leaves nothing behind") {
  struct stubborn {
    stubborn() = default;
    stubborn(const stubborn&) { throw failure(1); }
    void operator()() const {}
  };
  for_each_runtime("scope: stubborn closures", [](fj::runtime& rt, unsigned, stealing) {
    rt.run([] {
      fj::scope s;
      const stubborn f;
      for (int i = 0; i < 100; ++i) CHECK(number_thrown([&] { s.fork(f); }) == 1);
      int ran = 0;
      s.fork([&ran] { ran = 1; });
      s.join();
      CHECK(ran == 1);
    });
  });
}

TEST_CASE("with_scope: the exception is the serial program's") {
  for_each_runtime("with_scope: exceptions", [](fj::runtime& rt, unsigned, stealing) {
    for (int first = 0; first < 4; ++first) {
      std::atomic<int> alive{0};
      struct counted {
        std::atomic<int>* n;
        explicit counted(std::atomic<int>& to) : n(&to) { ++*n; }
        counted(const counted& other) : n(other.n) { ++*n; }
        ~counted() { --*n; }
      };
      const auto body = [&](fj::scope& s) {
        const counted here(alive);
        for (int i = 0; i < 4; ++i)
          s.fork([i, first, c = counted(alive)] {
            static_cast<void>(fib(6));
            if (i >= first) throw failure(i);
          });
        throw failure(99);
      };
      CHECK(number_thrown([&] { rt.run([&] { fj::with_scope(body); }); }) == first);
      CHECK(alive == 0);
    }
    CHECK(number_thrown([&] {
            rt.run([] {
              fj::with_scope([](fj::scope& s) {
                s.fork([] {});
                throw failure(5);
              });
            });
          }) == 5);
    CHECK(rt.run([] {
      return fj::with_scope([](fj::scope& s) {
        int n = 0;
        s.fork([&n] { n = 41; });
        s.join();
        return n + 1;
      });
    }) == 42);
  });
}

TEST_CASE("scope: a child's exception leaves fork or join, and the scope goes on") {
  for_each_runtime("scope: exceptions", [](fj::runtime& rt, unsigned, stealing) {
    rt.run([] {
      fj::scope s;
      for (int i = 0; i < 20; ++i) {
        CHECK(number_thrown([&] {
                s.fork([i] { throw failure(i); });
                s.join();
              }) == i);
        int ran = 0;
        s.fork([&ran] { ran = 1; });
        s.join();
        CHECK(ran == 1);
      }
      // The destructor throws, too.
      CHECK(number_thrown([] {
              fj::scope inner;
              inner.fork([] { throw failure(3); });
            }) == 3);
      // During unwinding the exception in flight wins.
      CHECK(number_thrown([] {
              fj::scope inner;
              try {
                inner.fork([] { throw failure(3); });
              } catch (const failure&) {}
              throw failure(4);
            }) == 4);
    });
  });
}

TEST_CASE("scope: forks in a handler and in a destructor during unwinding") {
  for_each_runtime("scope: in handlers", [](fj::runtime& rt, unsigned, stealing) {
    rt.run([] {
      const auto forks = [](bool in_handler) {
        std::atomic<int> inner{0};
        fj::scope s;
        for (int i = 0; i < 5; ++i)
          s.fork([&inner, in_handler] {
            CHECK((std::current_exception() != nullptr) == in_handler);
            CHECK(std::uncaught_exceptions() == 0);
            CHECK(number_thrown([] { throw failure(7); }) == 7);
            ++inner;
          });
        s.join();
        CHECK(inner == 5);
      };
      try {
        throw failure(1);
      } catch (const failure&) {
        forks(true);
        CHECK(number_thrown([] { throw; }) == 1);
      }
      struct at_end {
        decltype(forks)& f;
        ~at_end() {
          CHECK(std::uncaught_exceptions() == 1);
          f(false);
          CHECK(std::uncaught_exceptions() == 1);
        }
      };
      CHECK(number_thrown([&] {
              const at_end e{forks};
              throw failure(2);
            }) == 2);
      CHECK(std::uncaught_exceptions() == 0);
      CHECK(std::current_exception() == nullptr);
    });
  });
}

TEST_CASE("scope: cancellation") {
  for_each_runtime("scope: cancellation", [](fj::runtime& rt, unsigned, stealing) {
    rt.run([] {
      fj::stop_source source;
      std::atomic<int> ran{0};
      const auto body = [&](fj::scope& s) {
        s.fork([&] { ++ran; });
        s.join();
        CHECK(!s.stopped());
        source.request_stop();
        CHECK(s.stopped());
        fj::scope inner{s};
        inner.fork([&] { ++ran; });
        CHECK_THROWS_AS(inner.join(), fj::cancelled);
        s.fork([&] { ++ran; });
      };
      CHECK_THROWS_AS(fj::with_scope(source.get_token(), body), fj::cancelled);
      CHECK(ran == 1);
      // Nothing was left out, so the join throws nothing.
      fj::stop_source late;
      fj::with_scope(late.get_token(), [&](fj::scope& s) {
        s.fork([&] { ++ran; });
        s.join();
        late.request_stop();
      });
      CHECK(ran == 2);
    });
  });
}

TEST_CASE("scope: misuse") {
  CHECK_THROWS_AS([] { const fj::scope s; }(), std::logic_error);
  CHECK(fj::with_scope([](fj::scope& s) {  // with_scope enters the default runtime
          int n = 0;
          s.fork([&n] { n = 1; });
          s.join();
          return n;
        }) == 1);
  for_each_runtime("scope: misuse", [](fj::runtime& rt, unsigned, stealing) {
    rt.run([] {
      fj::scope s;
      std::atomic<int> refused{0};
      for (int i = 0; i < 10; ++i)
        s.fork([&] {
          try {
            s.join();
          } catch (const std::logic_error&) {
            ++refused;
          }
        });
      s.join();
      CHECK(refused == 10);
    });
  });
}

TEST_CASE("scope: greedy, the code after a fork and after a join goes on on another worker") {
  test::for_each_procs(
      [](unsigned p) {
        const test::watchdog dog("scope: greedy", p);
        fj::runtime rt(test::with_procs(p));
        rt.run([] {
          // The child does not end before its continuation has run.
          std::atomic<bool> went_on{false};
          fj::scope s;
          s.fork([&] { test::spin_until([&] { return went_on.load(); }); });
          went_on = true;
          s.join();
          // Three deep: only the oldest record is public at first.
          std::atomic<int> passed{0};
          const auto deep = [&](auto& self, int depth) -> void {
            fj::scope inner;
            inner.fork([&, depth] {
              if (depth > 0) self(self, depth - 1);
              test::spin_until([&] { return passed > depth; });
            });
            ++passed;
          };
          deep(deep, 2);
        });
      },
      2);
}

TEST_CASE("scope: a loop of many forks takes constant memory") {
  const long n = test::divided(10'000'000L);
  test::for_each_procs([n](unsigned p) {
    if (p > 8) return;
    const test::watchdog dog("scope: many forks", p, 300);
    fj::runtime rt(test::with_procs(p));
    std::atomic<long> sum{0};
    rt.run([&] {
      fj::scope s;
      for (long i = 0; i < n; ++i) s.fork([&sum] { sum.fetch_add(1, std::memory_order_relaxed); });
      s.join();
    });
    CHECK(sum == n);
    // One stack for each child that runs, and the free stacks that P keep.
    CHECK(rt.stats().stacks_peak <= 40 * (p + 1));
  });
}
