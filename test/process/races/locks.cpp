// Locks, and the functions of the C library.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <forkjoin/forkjoin.hpp>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "test/process/races/cases.hpp"

using races_test::unknown;
using races_test::use;

namespace {

CASE(critical) {  // clean DRB147
  std::mutex m;
  int x = 0;
  fj::parallel_for(0, 50, [&](int i) {
    const std::scoped_lock lock(m);
    x += i;
  });
  use(x);
}

CASE(critical_missing) {  // racy DRB149
  std::mutex m;
  int x = 0;
  fj::fork_join(
      [&] {
        const std::scoped_lock lock(m);
        x += 1;  // race: a
      },
      [&] { x += 2; });  // race: b
  use(x);
}

CASE(two_locks) {  // racy DRB150: each has its own
  std::mutex m, other;
  int x = 0;
  fj::fork_join(
      [&] {
        const std::scoped_lock lock(m);
        x += 1;  // race: a
      },
      [&] {
        const std::scoped_lock lock(other);
        x += 2;  // race: b
      });
  use(x);
}

CASE(lock_of_each_branch) {  // racy: they lie at the same place, one after the other
  int x = 0;
  fj::parallel_for(0, 20, [&](int i) {
    std::mutex m;
    const std::scoped_lock lock(m);
    x += i;  // race: a b
  });
  use(x);
}

CASE(lock_that_waits_for_a_time) {  // clean
  std::shared_timed_mutex m;
  int x = 0;
  fj::parallel_for(0, 20, [&](int i) {
    using namespace std::chrono_literals;
    if (i % 2 == 0) {
      if (!m.try_lock_for(1s)) return;
      x += i;
      m.unlock();
    } else {
      const std::shared_lock lock(m, 1s);
      use(x);
    }
  });
  use(x);
}

CASE(forks_of_an_initialization) {  // racy
  static long hits = 0;
  static const long made = [] {
    fj::parallel_for(0, 100, [](int) { ++hits; });  // race: a b
    return hits;
  }();
  use(made);
}

CASE(pairs_of_locks) {  // clean: every two hold one in common, and there is none that all hold
  std::mutex a, b, c;
  int x = 0;
  fj::fork_join(
      [&] {
        const std::scoped_lock lock(a, b);
        x += 1;
      },
      [&] {
        const std::scoped_lock lock(b, c);
        x += 2;
      },
      [&] {
        const std::scoped_lock lock(a, c);
        x += 3;
      });
  use(x);
}

CASE(hidden_by_another_lock) {  // racy: the access under both locks must not hide the one under m alone
  std::mutex m, other;
  int x = 0;
  fj::fork_join(
      [&] {
        const std::scoped_lock lock(m);
        x += 1;  // race: a
      },
      [&] {
        const std::scoped_lock lock(m, other);
        x += 2;
      },
      [&] {
        const std::scoped_lock lock(other);
        x += 3;  // race: b
      });
  use(x);
}

CASE(lock_released_early) {  // racy
  std::mutex m;
  int x = 0;
  fj::parallel_for(0, 20, [&](int i) {
    m.lock();
    x += i;  // race: a
    m.unlock();
    use(x);
    x += 1;  // race: b
  });
}

CASE(lock_of_the_parent) {  // racy: a lock that the parent holds excludes no two of its children
  std::mutex m;
  int x = 0;
  const std::scoped_lock lock(m);
  fj::fork_join([&] { x += 1; },   // race: a
                [&] { x += 2; });  // race: b
  use(x);
}

CASE(shared_lock_clean) {  // clean
  std::shared_mutex m;
  std::vector<int> a(10, 1);
  std::vector<int> sums(40);
  fj::parallel_for(std::size_t{0}, sums.size(), [&](std::size_t i) {
    if (i % 7 == 0) {
      const std::unique_lock lock(m);
      a[3] += 1;
    } else {
      const std::shared_lock lock(m);
      sums[i] = a[3];
    }
  });
}

CASE(shared_lock_writes) {  // racy: shared locks do not exclude one another
  std::shared_mutex m;
  int x = 0;
  fj::parallel_for(0, 20, [&](int i) {
    const std::shared_lock lock(m);
    x += i;  // race: a b
  });
  use(x);
}

CASE(recursive_lock) {  // clean DRB118
  std::recursive_mutex m;
  int x = 0;
  fj::parallel_for(0, 20, [&](int) {
    const std::scoped_lock outer(m);
    {
      const std::scoped_lock inner(m);
      ++x;
    }
    ++x;
  });
  use(x);
}

CASE(call_once) {  // clean
  std::once_flag once;
  int made = 0;
  std::vector<int> out(20);
  fj::parallel_for(std::size_t{0}, out.size(), [&](std::size_t i) {
    std::call_once(once, [&] { made = 7; });
    out[i] = made;
  });
}

CASE(thread_local_variable) {  // clean DRB127: strands that run at the same time have threads of their own
  static thread_local int last = 0;
  std::vector<int> out(20);
  fj::parallel_for(std::size_t{0}, out.size(), [&](std::size_t i) {
    last = static_cast<int>(i);
    use(last);
    out[i] = last;
  });
}

CASE(atomics) {  // clean
  std::atomic<int> n{0};
  std::atomic<bool> seen{false};
  std::vector<int> plain(20);
  fj::parallel_for(std::size_t{0}, plain.size(), [&](std::size_t i) {
    n.fetch_add(1);
    int expected = 7;
    n.compare_exchange_strong(expected, 8);
    if (!seen) seen = true;
    std::atomic_ref<int>(plain[i / 4]) += 1;
  });
  int sum = n;
  for (int& one : plain) sum += ++one;
  use(sum);
}

CASE(plain_beside_atomic) {  // racy
  alignas(4) int n = 0;
  fj::fork_join(
      [&] {
        std::atomic_ref<int>(n).fetch_add(1);  // race: a
        use(n);
      },
      [&] { n = 2; });  // race: b
  use(n);
}

CASE(plain_read_beside_atomic) {  // racy
  alignas(4) int n = 0;
  int seen = 0;
  fj::fork_join([&] { seen = n; },                                                      // race: a
                [&] { std::atomic_ref<int>(n).store(1, std::memory_order_relaxed); });  // race: b
  use(seen);
}

CASE(plain_behind_atomic) {  // racy: the strand's own atomic access does not hide the plain one
  alignas(4) int n = 0;
  fj::fork_join(
      [&] {
        std::atomic_ref<int>(n).fetch_add(1);
        n += 1;  // race: a
      },
      [&] {
        std::atomic_ref<int>(n).fetch_add(1);  // race: b
        use(n);
      });
  use(n);
}

CASE(atomic_read_beside_plain_read) {  // clean
  alignas(4) int n = 0;
  int a = 0, b = 0;
  fj::fork_join([&] { a = n; }, [&] { b = std::atomic_ref<int>(n).load(); }, [&] { use(b); });
  use(a);
}

CASE(atomic_beside_lock) {  // racy: the lock keeps no atomic access away
  alignas(4) int n = 0;
  std::mutex m;
  fj::fork_join(
      [&] {
        std::atomic_ref<int>(n).fetch_add(1);  // race: a
        use(n);
      },
      [&] {
        const std::scoped_lock lock(m);
        n += 1;  // race: b
      });
  use(n);
}

CASE(atomic_byte) {  // racy: of one word
  struct {
    char a = 0, b = 0;
  } two;
  fj::fork_join([&] { std::atomic_ref<char>(two.a).store(1); },  // race: a
                [&] { use(two.b = 2); },                         //
                [&] { use(two.a = 3); });                        // race: b
  use(two);
}

CASE(memory_copy) {  // racy
  std::vector<char> a(200, 'a'), b(200, 'b');
  fj::fork_join([&] { std::memcpy(a.data(), b.data(), unknown(std::size_t{100})); },  // race: a
                [&] { std::memset(a.data() + 99, 'c', unknown(std::size_t{50})); });  // race: b
  use(a);
}

CASE(memory_apart) {  // clean
  std::vector<char> a(200, 'a'), b(200, 'b');
  fj::fork_join([&] { std::memcpy(a.data(), b.data(), unknown(std::size_t{99})); },
                [&] { std::memset(a.data() + 99, 'c', unknown(std::size_t{50})); });
  use(a);
}

CASE(memory_of_known_size) {  // racy
  struct pair {
    long a, b;
  };
  pair x{1, 2}, y{3, 4};
  fj::fork_join([&] { std::memcpy(&x, &y, sizeof x); },  // race: a
                [&] { use(x.b = 4); });                  // race: b
  use(x);
}

CASE(string_copy) {  // racy
  char text[40] = "some text", out[40];
  use(text);
  fj::fork_join([&] { use(*std::strcpy(out, text)); },  // race: a
                [&] { text[3] = 'x'; });                // race: b
}

CASE(string_length) {  // racy
  char text[40] = "some text";
  use(text);
  std::size_t n = 0;
  fj::fork_join([&] { n = std::strlen(text); },  // race: a
                [&] { text[4] = '\0'; });        // race: b
  use(n);
}

CASE(string_append) {  // racy: in the standard library, which is not instrumented
  std::string text(100, 'x');
  std::size_t n = 0;
  fj::fork_join([&] { text.append(40, 'y'); },                           // race: a
                [&] { n = text.find("y", unknown(std::size_t{10})); });  // race: b
  use(n);
}

CASE(printed) {  // clean DRB049
  fj::parallel_for(0, 10, [&](int i) { std::fprintf(stdout, "%d\n", i); });
}

CASE(structure_copy) {  // racy
  struct large {
    long a[6];
  };
  large x{}, y{};
  use(y);
  fj::fork_join([&] { x = y; },        // race: a
                [&] { x.a[5] = 3; });  // race: b
  use(x);
}

CASE(bit_fields) {  // racy: two of one word
  struct flags {
    unsigned a : 4, b : 4;
  };
  flags f{};
  fj::fork_join([&] { f.a = static_cast<unsigned>(unknown(3)) & 15; },   // race: a
                [&] { f.b = static_cast<unsigned>(unknown(4)) & 15; });  // race: b
  use(f);
}

}  // namespace
