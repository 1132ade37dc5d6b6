// fork_join, fork_reduce and scopes, and what they have on stacks and heap.
#include <array>
#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "test/process/races/cases.hpp"

using races_test::unknown;
using races_test::use;

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

long scope_fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  fj::scope s;
  s.fork([&a, n] { a = scope_fib(n - 1); });
  b = scope_fib(n - 2);
  s.join();
  return a + b;
}

CASE(fib_by_forks) {  // clean DRB105
  long f = fib(12);
  use(f);
}

CASE(fib_by_scopes) {  // clean DRB105
  long f = fj::run([] { return scope_fib(12); });
  use(f);
}

CASE(wait_missing) {  // racy DRB106
  struct recursion {
    static long fib(int n) {
      if (n < 2) return n;
      long a = 0, b = 0;
      fj::scope s;
      s.fork([&a, n] { a = fib(n - 1); });  // race: a
      b = fib(n - 2);
      return a + b;  // race: b
    }
  };
  long f = fj::run([] { return recursion::fib(6); });
  use(f);
}

CASE(sections) {  // racy DRB023
  int i = 0;
  fj::fork_join([&] { i = 1; },   // race: a
                [&] { i = 2; });  // race: b
  use(i);
}

CASE(read_and_write) {  // racy
  int x = unknown(1), y = 0;
  fj::fork_join([&] { y = x; },   // race: a
                [&] { x = 3; });  // race: b
  use(y);
}

CASE(two_readers) {  // clean
  int x = unknown(1), a = 0, b = 0;
  fj::fork_join([&] { a = x; }, [&] { b = x; });
  use(a);
  use(b);
}

CASE(second_reader) {  // racy: of two readers the one that is not before the writer counts
  int x = unknown(1), a = 0, b = 0;
  fj::fork_join(
      [&] {
        a = x;  // race: a
        b = a;
      },
      [&] { x = 2; });  // race: b
  use(b);
}

CASE(after_the_join) {  // clean
  int x = 0;
  fj::fork_join([&] { x = 1; }, [] {});
  x += 1;
  fj::fork_join([] {}, [&] { x += 1; });
  use(x);
}

CASE(nested_forks) {  // racy: in different branches of different depth
  int x = 0;
  fj::fork_join([&] { fj::fork_join([] {}, [&] { fj::fork_join([&] { x = 1; }, [] {}); }); },  // race: a
                [&] { x = 2; });                                                               // race: b
  use(x);
}

CASE(inner_join) {  // clean: the inner join orders
  int x = 0;
  fj::fork_join(
      [&] {
        fj::fork_join([&] { x = 1; }, [] {});
        x = 2;
      },
      [] {});
  use(x);
}

CASE(five_branches) {  // racy
  std::array<int, 5> a{};
  fj::fork_join([&] { a[0] = 1; }, [&] { a[1] = 1; }, [&] { a[2] = 1; },  // race: a
                [&] { a[3] = 1; }, [&] { a[2] = 2; });                    // race: b
  use(a);
}

CASE(results) {  // clean: results are built in the branches
  auto [text, list] = fj::fork_join([] { return std::string(100, 'x'); }, [] { return std::vector<int>(50, 3); });
  text += "y";
  list.push_back(4);
  use(text);
}

CASE(result_reference) {  // clean
  int x = 4;
  auto [r, nothing] = fj::fork_join([&]() -> int& { return x; }, [] {});
  static_cast<void>(nothing);
  r = 5;
}

CASE(last_child_first) {  // racy
  int x = 0;
  fj::fork_join<fj::tasks>([&] { x = 1; },   // race: a
                           [&] { x = 2; });  // race: b
  use(x);
}

CASE(captured_by_value) {  // clean DRB101
  std::vector<int> psum(10);
  fj::run([&] {
    fj::scope s;
    for (int i = 0; i != 10; ++i) s.fork([i, &psum] { psum[static_cast<std::size_t>(i)] = i; });
  });
}

CASE(captured_by_reference) {  // racy DRB100
  std::vector<int> psum(10);
  fj::run([&] {
    fj::scope s;
    for (int i = 0; i != 9; ++i)                                                // race: b
      s.fork([&i, &psum] { psum[static_cast<std::size_t>(unknown(i))] = 1; });  // race: a
  });
}

CASE(continuation) {  // racy
  int x = 0;
  fj::run([&] {
    fj::scope s;
    s.fork([&] { x = 1; });  // race: a
    x = 2;                   // race: b
    s.join();
  });
  use(x);
}

CASE(read_again) {  // racy: the strand has read x before the fork, too
  int x = unknown(0), y = 0;
  fj::run([&] {
    fj::scope s;
    y = x;
    s.fork([&] { x = 1; });  // race: a
    y += x;                  // race: b
    s.join();
  });
  use(y);
}

CASE(joined_twice) {  // clean
  int x = 0;
  fj::run([&] {
    fj::scope s;
    s.fork([&] { x = 1; });
    s.join();
    s.fork([&] { x += 1; });
    s.join();
    ++x;
  });
  use(x);
}

CASE(two_children) {  // racy
  int x = 0;
  fj::run([&] {
    fj::scope s;
    s.fork([&] { x = 1; });  // race: a
    s.fork([&] { x = 2; });  // race: b
  });
  use(x);
}

CASE(grandchild) {  // racy DRB117: a join waits for the scope's own children alone
  int x = 0;
  fj::run([&] {
    fj::scope outer;
    {
      fj::scope inner;
      inner.fork([&] { outer.fork([&] { x = 1; }); });  // race: a
      inner.join();
    }
    x = 2;  // race: b
    outer.join();
  });
  use(x);
}

CASE(grandchild_joined) {  // clean DRB107
  int x = 0;
  fj::run([&] {
    fj::scope outer;
    outer.fork([&] { outer.fork([&] { x = 1; }); });
    outer.join();
    x = 2;
  });
  use(x);
}

CASE(fork_into_own_scope) {  // racy: what a child does after it has forked a sibling
  int x = 0;
  fj::run([&] {
    fj::scope s;
    s.fork([&] {
      s.fork([&] { x = 1; });  // race: a
      x = 2;                   // race: b
    });
  });
  use(x);
}

CASE(with_scope) {  // clean
  int x = 0, y = 0;
  fj::with_scope([&](fj::scope& s) {
    s.fork([&] { x = 1; });
    y = 2;
  });
  use(x);
  use(y);
}

CASE(scope_exception) {  // clean: the join comes before the handler
  int x = 0;
  try {
    fj::with_scope([&](fj::scope& s) {
      s.fork([&] { x = 1; });
      throw std::runtime_error("out");
    });
  } catch (const std::runtime_error&) {
    x = 2;
  }
  use(x);
}

CASE(fork_exception) {  // clean
  std::string text;
  try {
    fj::fork_join([&] { text = std::string(60, 'a'); }, [] { throw std::runtime_error("out"); });
  } catch (const std::runtime_error&) {
    text += "b";
  }
  use(text);
}

CASE(stack_again) {  // clean: branches use the same addresses of the stack one after the other
  const auto work = [](int seed) {
    std::array<int, 64> a{};
    for (std::size_t i = 0; i != a.size(); ++i) a[i] = seed + static_cast<int>(i);
    use(a);
    return a[static_cast<std::size_t>(seed & 63)];
  };
  fj::fork_join([&] { return work(1); }, [&] { return work(2); });
  fj::parallel_for(0, 50, [&](int i) { work(i); });
  fj::run([&] {
    fj::scope s;
    for (int i = 0; i != 10; ++i) s.fork([&, i] { work(i); });
    work(3);
  });
}

CASE(stack_of_the_parent) {  // racy: the same, but it is the parent's array
  std::array<int, 8> a{};
  fj::parallel_for(0, 16, [&](int i) { a[static_cast<std::size_t>(i % 8)] = i; });  // race: a b
  use(a);
}

CASE(large_closures) {  // clean: a scope moves them
  std::array<long, 40> big{};
  big[3] = unknown(4);
  std::vector<long> out(20);
  fj::run([&] {
    fj::scope s;
    for (std::size_t i = 0; i != out.size(); ++i)
      s.fork([big, i, &out, text = std::string(40, 'x')]() mutable {
        big[0] = static_cast<long>(text.size());
        out[i] = big[0] + big[3];
      });
  });
}

CASE(heap_again) {  // clean: malloc gives the same block to branches, one after the other
  fj::parallel_for(0, 100, [](int i) {
    const auto p = std::make_unique<int>(i);
    ++*p;
    use(*p);
  });
  fj::parallel_for(0, 100, [](int i) {
    std::string s(static_cast<std::size_t>(30 + i % 5), 'c');
    s[3] = 'd';
    use(s);
  });
}

CASE(shared_pointer) {  // clean: the count is atomic
  const auto p = std::make_shared<int>(4);
  fj::parallel_for(0, 50, [p](int) {
    auto copy = p;
    use(*copy);
  });
}

CASE(heap_block) {  // racy
  const auto p = std::make_unique<long[]>(10);
  fj::fork_join([&] { p[4] = 1; },   // race: a
                [&] { p[4] = 2; });  // race: b
}

CASE(guarded_static) {  // clean: made once, before anything uses it
  const auto table = []() -> const std::vector<int>& {
    static const std::vector<int> made(100, unknown(3));
    return made;
  };
  std::vector<int> out(20);
  fj::parallel_for(0, 20, [&](int i) { out[static_cast<std::size_t>(i)] = table()[static_cast<std::size_t>(i)]; });
}

CASE(object_with_vptr) {  // racy
  struct shape {
    virtual ~shape() = default;
    virtual int corners() const { return side; }
    int side = 4;
  };
  const auto s = std::make_unique<shape>();
  int sum = 0;
  fj::fork_join([&] { sum = s->corners(); },  // race: a
                [&] { s->side = 3; });        // race: b
  use(sum);
}

CASE(fold) {  // clean: the strand alone adds
  int calls = 0;
  long sum = fj::fork_reduce(
      0, 50, 0L,
      [&](long a, long b) {
        ++calls;
        return a + b;
      },
      [](int i) { return static_cast<long>(i); });
  use(sum);
  use(calls);
}

CASE(fold_body) {  // racy
  int calls = 0;
  long sum = fj::fork_reduce(0, 50, 0L, std::plus<>(), [&](int i) {
    ++calls;  // race: a b
    return static_cast<long>(i);
  });
  use(sum);
}

CASE(fold_beside) {  // racy: while the strand adds, a thief may run the next iterations
  int calls = 0;
  long sum = fj::fork_reduce(
      0, 50, 0L,
      [&](long a, long b) {
        ++calls;  // race: a
        return a + b;
      },
      [&](int i) { return static_cast<long>(i) + unknown(calls); });  // race: b
  use(sum);
}

CASE(outer_scope_outlives) {  // racy: the first reader of x is joined before the second one
  int x = unknown(1);
  fj::run([&] {
    fj::scope outer;
    {
      fj::scope inner;
      inner.fork([&] { static_cast<void>(unknown(x)); });
      outer.fork([&] { static_cast<void>(unknown(x)); });  // race: a
    }
    x = 3;  // race: b
  });
}

CASE(inner_scope_outlives_before) {  // racy: as soon as one strand has joined scopes so
  int x = unknown(1);
  fj::run([&] {
    for (int i = 0; i != 2; ++i) {
      fj::scope outer;
      outer.fork([&] { static_cast<void>(unknown(x)); });
      fj::scope inner;
      inner.fork([&] { static_cast<void>(unknown(x)); });  // race: a
      outer.join();
      if (i != 0) x = 3;  // race: b
    }
  });
}

CASE(stop_token) {  // clean
  fj::stop_source source;
  std::vector<int> a(100);
  const fj::stop_token stop = source.get_token();
  try {
    fj::parallel_for(0, 100,
                     [&](int i) {
                       a[static_cast<std::size_t>(i)] = i;
                       if (i == 50) source.request_stop();
                     },
                     {.stop = &stop});
  } catch (const fj::cancelled&) {}
}

}  // namespace
