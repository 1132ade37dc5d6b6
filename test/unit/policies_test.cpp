// Orders and joins, each by itself, of forks and of scopes.
#include "forkjoin/policies.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "forkjoin/fork_each.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/scope.hpp"
#include "forkjoin/with_scope.hpp"
#include "test/support.hpp"

namespace {

static_assert(std::is_same_v<fj::continuations, fj::policy<fj::first_child_first, fj::leave_stack>>);
static_assert(std::is_same_v<fj::tasks, fj::policy<fj::last_child_first, fj::run_on_top>>);
static_assert(std::is_same_v<fj::scope, fj::basic_scope<fj::continuations>>);

template <class Policy>
long fib(int n) {
  if (n < 2) return n;
  long a = 0;
  fj::basic_scope<Policy> s;
  s.fork([&a, n] { a = fib<Policy>(n - 1); });
  const long b = fib<Policy>(n - 2);
  s.join();
  return a + b;
}

// A tree whose nodes fork into scopes of their own, into their parents' scopes, and by fork_join, in any order.
template <class Policy>
long count_nodes(test::dice dice, int depth, fj::basic_scope<Policy>& above, std::atomic<long>& extra) {
  if (depth == 0) return 1;
  long nodes = 1;
  std::vector<std::unique_ptr<long>> children;
  fj::basic_scope<Policy> s;
  for (unsigned forks = dice.below(4); forks > 0; --forks) {
    const test::dice seed(dice.next());
    switch (dice.below(5)) {
      case 0:
      case 1: {
        long& into = *children.emplace_back(std::make_unique<long>(0));
        s.fork([=, &into, &s, &extra] { into = count_nodes<Policy>(seed, depth - 1, s, extra); });
        break;
      }
      case 2:
        above.fork([&extra] { ++extra; });
        ++nodes;
        break;
      case 3: {
        const auto child = [&] { return count_nodes<Policy>(seed, depth - 1, s, extra); };
        const auto [a, b] = fj::fork_join<Policy>(child, [&] {
          s.fork([&extra] { ++extra; });
          return count_nodes<Policy>(seed, depth - 1, s, extra);
        });
        nodes += a + b + 1;
        break;
      }
      default:
        s.join();
    }
  }
  s.join();
  for (const auto& child : children) nodes += *child;
  return nodes;
}

// How many the above counts, without any fork.
long nodes_of(test::dice dice, int depth, long& extra) {
  if (depth == 0) return 1;
  long nodes = 1;
  for (unsigned forks = dice.below(4); forks > 0; --forks) {
    const test::dice seed(dice.next());
    switch (dice.below(5)) {
      case 0:
      case 1:
        nodes += nodes_of(seed, depth - 1, extra);
        break;
      case 2:
        ++extra;
        ++nodes;
        break;
      case 3:
        nodes += 2 * nodes_of(seed, depth - 1, extra) + 1;
        extra += 1;
        nodes_of(seed, depth - 1, extra);
        break;
      default:
        break;
    }
  }
  return nodes;
}

int tree(int depth) {
  if (depth == 0) return 1;
  const auto [a, b] = fj::fork_join([=] { return tree(depth - 1); }, [=] { return tree(depth - 1); });
  return a + b;
}

}  // namespace

TEST_CASE_TEMPLATE("policies: recursion through scopes", Policy, ALL_POLICIES) {
  test::for_each_runtime("scopes", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    CHECK(rt.run([] { return fib<Policy>(14); }) == 377);
  });
}

// Tried with every fork kept, also within open forks: the test crashes.
TEST_CASE_TEMPLATE("policies: scopes and forks within each other", Policy, ALL_POLICIES) {
  test::for_each_runtime("scopes and forks", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (std::uint64_t seed = 1; seed <= test::divided(40u); ++seed) {
      CAPTURE(seed);
      long extra_expected = 0;
      const long expected = nodes_of(test::dice(seed), 6, extra_expected);
      std::atomic<long> extra{0};
      const long found = rt.run([&] {
        fj::basic_scope<Policy> s;
        const long nodes = count_nodes<Policy>(test::dice(seed), 6, s, extra);
        s.join();
        return nodes;
      });
      CHECK(found == expected);
      CHECK(extra == extra_expected);
    }
  });
}

TEST_CASE("policies: with one P a scope's children run in the order of the policy") {
  const test::watchdog dog("order of children", 1);
  fj::runtime rt(test::with_procs(1));
  test::for_each_policy([&]<class Policy>(Policy) {
    std::vector<int> trace;
    const auto note = [&](int i) { return [&trace, i] { trace.push_back(i); }; };
    const auto forks = [&] {
      fj::basic_scope<Policy> s;
      for (int i = 1; i <= 3; ++i) s.fork(note(i));
      trace.push_back(4);
      s.join();
      s.fork(note(5));
      trace.push_back(6);
      s.join();
    };
    rt.run(forks);
    const bool first = test::runs_first_child<Policy>;
    CHECK(trace == (first ? std::vector{1, 2, 3, 4, 5, 6} : std::vector{4, 3, 2, 1, 6, 5}));
    trace.clear();
    // The same below a fork that is open.
    rt.run([&] { fj::fork_join<Policy>(forks, [] {}); });
    CHECK(trace == (first ? std::vector{1, 2, 3, 4, 5, 6} : std::vector{4, 3, 2, 1, 6, 5}));
    trace.clear();
    rt.run([&] { fj::fork_each<Policy>(0, 4, [&](int i) { trace.push_back(i); }); });
    CHECK(trace == (first ? std::vector{0, 1, 2, 3} : std::vector{3, 2, 1, 0}));
  });
}

TEST_CASE_TEMPLATE("policies: a scope's exception is the serial program's", Policy, ALL_POLICIES) {
  test::for_each_runtime("exceptions of scopes", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (unsigned which = 0; which < 64; which += test::divided(8u) > 4 ? 1 : 5) {
      CAPTURE(which);
      // Bits 0 to 4 are children, bit 5 is the body.
      std::atomic<unsigned> ran{0};
      int caught = -1;
      try {
        rt.run([&] {
          fj::with_scope<Policy>([&](fj::basic_scope<Policy>& s) {
            for (int i = 0; i < 5; ++i)
              s.fork([&, i] {
                ran |= 1u << i;
                if (which >> i & 1) throw i;
              });
            if (which >> 5) throw 5;
          });
        });
      } catch (const int i) {
        caught = i;
      }
      int expected = -1;
      for (int i = 5; i >= 0; --i)
        if (which >> i & 1) expected = i;
      CHECK(caught == expected);
      // All that the serial program runs have run.
      const unsigned serial = expected < 0 || expected > 4 ? 31u : (2u << expected) - 1;
      CHECK((ran & serial) == serial);
    }
  });
}

TEST_CASE_TEMPLATE("policies: a scope that is asked to stop says so", Policy, ALL_POLICIES) {
  test::for_each_runtime("stopped scopes", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    fj::stop_source source;
    std::atomic<int> ran{0};
    bool cancelled = false;
    try {
      rt.run([&] {
        fj::with_scope<Policy>(source.get_token(), [&](fj::basic_scope<Policy>& s) {
          for (int i = 0; i < 10; ++i) {
            s.fork([&] { ++ran; });
            if (i == 4) source.request_stop();
          }
        });
      });
    } catch (const fj::cancelled&) {
      cancelled = true;
    }
    CHECK(cancelled);
    CHECK(ran <= 5);
    if (test::runs_first_child<Policy>) CHECK(ran == 5);
  });
}

TEST_CASE_TEMPLATE("policies: closures of a scope are moved once and destroyed once", Policy, ALL_POLICIES) {
  test::for_each_runtime("closures of scopes", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    const auto token = std::make_shared<int>(7);
    std::atomic<long> sum{0};
    rt.run([&] {
      fj::basic_scope<Policy> s;
      for (int i = 0; i < 100; ++i) {
        s.fork([&sum, copy = token] { sum += *copy; });
        struct alignas(128) wide {
          long values[100];
        };
        wide w{};
        w.values[99] = i;
        s.fork([&sum, w] { sum += w.values[99] + static_cast<long>(reinterpret_cast<std::uintptr_t>(&w) % 128); });
      }
      s.join();
      CHECK(token.use_count() == 1);
      s.fork([copy = std::make_unique<int>(1), &sum] { sum += *copy; });
    });
    CHECK(sum == 700 + 4950 + 1);
    CHECK(token.use_count() == 1);
  });
}

// A child that began in its parent's handler must not outlive it, so the scope forks it at once. Tried with such
// children kept: they run after the handler.
TEST_CASE_TEMPLATE("policies: forks of a scope in a handler", Policy, ALL_POLICIES) {
  test::for_each_runtime("scopes in handlers", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    std::atomic<int> wrong{0};
    rt.run([&] {
      fj::basic_scope<Policy> s;
      s.fork([&] { wrong += std::current_exception() != nullptr; });
      try {
        throw std::runtime_error("handled");
      } catch (const std::runtime_error&) {
        s.fork([&] { wrong += !std::current_exception(); });
        fj::fork_join<Policy>([] {}, [] {});
      }
      s.fork([&] { wrong += std::current_exception() != nullptr; });
    });
    CHECK(wrong == 0);
  });
}

// The join is in a branch of a fork that began after the scope's children. Tried with a join that takes back the
// child's record all the same: the fork's record is lost, and the runtime does not end.
TEST_CASE_TEMPLATE("policies: a scope that is joined in a branch of a fork", Policy, ALL_POLICIES) {
  test::for_each_runtime("join in a branch", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    std::atomic<int> runs{0};
    rt.run([&] {
      fj::basic_scope<Policy> s;
      for (int i = 0; i < 3; ++i) {
        s.fork([&] { runs += 1; });
        s.fork([&] { runs += tree(6); });
        fj::fork_join<Policy>([] {}, [] {});
        fj::fork_join([&] { fj::fork_join([&] { s.join(); }, [&] { runs += 100; }); }, [&] { runs += 1000; });
        s.fork([&] { runs += 10'000; });
      }
    });
    CHECK(runs == 3 * (1 + tree(6) + 100 + 1000 + 10'000));
  });
}

// Large closures, which lie in memory that a join frees. Tried without the look whether the scope joins: the first one
// goes on in freed memory.
TEST_CASE_TEMPLATE("policies: a child that joins its own scope gets an error", Policy, ALL_POLICIES) {
  test::for_each_runtime("a child's join", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    std::atomic<int> refused{0};
    const std::array<int, 500> large{};
    rt.run([&] {
      fj::basic_scope<Policy> s;
      for (int i = 0; i < 3; ++i) {
        s.fork([&s, &refused, large] {
          try {
            s.join();
          } catch (const std::logic_error&) {
            refused += 1 + large.back();
          }
        });
      }
      s.join();
    });
    CHECK(refused == 3);
  });
}

// The thief of the first record waits and has nothing. Another P shares a record. Tried with records of all P: the
// waiting strand runs that one on top of its stack.
TEST_CASE_TEMPLATE("policies: leapfrogging runs nothing of a P that is not the thief's", Policy, test::first_leap,
                   test::last_leap) {
  const test::watchdog dog("leapfrogging", 3);
  fj::options chosen = test::with_procs(3);
  chosen.stack_size = 256 << 10;
  fj::runtime rt(chosen);
  for (unsigned round = 0; round < test::divided(50u); ++round) {
    std::atomic<bool> stolen{false}, inner_stolen{false}, over{false};
    std::atomic<const std::byte*> waiting{nullptr};
    std::atomic<bool> on_top{false};
    const auto other = [&] {  // on a third P, once the thief's record was stolen in turn
      inner_stolen = true;
      test::spin_until([&] { return rt.stats().total().join_waits > round; });
      const auto last = [&] {
        const std::byte here{};
        const std::byte* const at = &here;
        on_top = at < waiting.load() && waiting.load() - at < (64 << 10);
        over = true;
      };
      const auto first = [&] { test::spin_until([&] { return over.load(); }); };
      fj::fork_join(first, last);
    };
    const auto busy = [&] { test::spin_until([&] { return over.load(); }); };
    const auto thiefs = [&] {
      stolen = true;
      fj::fork_join(busy, other);
    };
    const auto owners = [&] { test::spin_until([&] { return stolen.load() && inner_stolen.load(); }); };
    rt.run([&] {
      const std::byte here{};
      waiting = &here;
      if constexpr (test::runs_first_child<Policy>) {
        fj::fork_join<Policy>(owners, thiefs);
      } else {
        fj::fork_join<Policy>(thiefs, owners);
      }
    });
    CHECK(!on_top);
  }
}

TEST_CASE_TEMPLATE("policies: loops visit each index once", Policy, ALL_POLICIES) {
  test::for_each_runtime("loops", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    std::vector<std::atomic<int>> visits(2000);
    const auto visit = [&](std::size_t i) { ++visits[i]; };
    rt.run([&] {
      fj::fork_each<Policy>(std::size_t(0), visits.size(), visit);
      fj::fork_each<Policy>(std::size_t(0), visits.size(), visit, {.grain = 11});
    });
    unsigned wrong = 0;
    for (const auto& n : visits) wrong += n != 2;
    CHECK(wrong == 0);
  });
}
