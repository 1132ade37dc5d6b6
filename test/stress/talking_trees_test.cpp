// Random fork trees whose branches wait for one another: by channels, under mutexes, for fibers of go, for a time and
// at pipes, in the kernel and at the poller, nested, on one P and many, also with every fork stolen and in chaos mode.
// Results are checked against the same tree run serially.
//
// FORKJOIN_TEST_RUNS=n: n trees over all configurations. FORKJOIN_TEST_SEED=n: other trees, and other chaos. A failure
// names the seed of its tree.
//
// Bugs that were put in, and found: a strand that suspends though it has been woken; a lock that does not say that it
// waits; a waiter that comes back to a mutex and still counts as competing; one of 50 sleepers that its timer does not
// wake; one of 20 events of the poller that ends no wait; a monitor that takes no P from a blocking call; one of 20
// strands that come back from a blocking call without a P and are not made ready.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "test/sockets.hpp"
#include "test/support.hpp"

namespace {

using number = std::uint64_t;

enum class pairing : unsigned {
  forked,         // the branches know nothing of each other
  first_waits,    // the first branch receives what the second, its continuation, sends
  second_waits,   // the second receives what the first sends
  both_lock,      // both run under one mutex, for which a third competes
  gets_in_first,  // the first is a fiber of go, for which a branch waits
  gets_in_second,
  selects,       // the first selects, and the second serves one of the cases
  first_blocks,  // the first reads, in the kernel, from a pipe into which the second writes
  first_reads,   // the same by the poller
  both_sleep,
};
constexpr unsigned pairings = 10;

// How two branches are run, whatever their results are for.

struct serially {
  template <class F, class G>
  static number run(pairing, number, const F& f, const G& g) {
    const number a = f();
    return a * 31 + g();
  }
};

struct talking {
  // Second branches that ran while the first waited for them: each of them was stolen.
  static inline std::atomic<std::uint64_t> stolen_for_certain{0};

  template <class F, class G>
  static number run(pairing how, number seed, const F& f, const G& g) {
    const std::size_t capacity = seed % 3;
    switch (how) {
      case pairing::forked: {
        const auto [a, b] = fj::fork_join(f, g);
        return a * 31 + b;
      }
      case pairing::first_waits: {
        const fj::channel<number> c(capacity);
        const auto [sum, sent] = fj::fork_join(
            [&] {
              const number a = f();
              return a * 31 + *c.receive();
            },
            [&] {
              c.send(g());
              return true;
            });
        stolen_for_certain += sent;
        return sum;
      }
      case pairing::second_waits: {
        const fj::channel<number> c(capacity);
        const auto [sent, sum] = fj::fork_join(
            [&] {
              c.send(f());
              return true;
            },
            [&] {
              const number b = g();
              return *c.receive() * 31 + b;
            });
        stolen_for_certain += sent && capacity == 0;  // the send waited for its continuation
        return sum;
      }
      case pairing::both_lock: {
        fj::mutex m;
        bool inside = false, apart = true;
        const auto alone = [&](const auto& branch) {
          const std::scoped_lock lock(m);
          apart = apart && !inside;
          inside = true;
          const number result = branch();
          inside = false;
          return result;
        };
        // The third, because two waiters are more than twice one.
        const auto [a, b, third] = fj::fork_join([&] { return alone(f); }, [&] { return alone(g); },
                                                 [&] { return alone([] { return number{0}; }); });
        return apart ? a * 31 + b + third : 0;
      }
      case pairing::gets_in_first: {
        const auto [a, b] = fj::fork_join([&] { return fj::go([&] { return f(); }).get(); }, g);
        return a * 31 + b;
      }
      case pairing::gets_in_second: {
        auto later = fj::go([&] { return g(); });
        const auto [a, b] = fj::fork_join(f, [&] { return later.get(); });
        return a * 31 + b;
      }
      case pairing::selects: {
        const fj::channel<number> c(capacity), never(0);
        const auto [sum, sent] = fj::fork_join(
            [&] {
              const number a = f();
              std::optional<number> b;
              const auto take = [&](std::optional<number> value) { b = value; };
              fj::select(fj::on_receive(never, take), fj::on_receive(c, take), fj::on_send(never, 0, [] {}),
                         fj::on_receive(c, take));
              return a * 31 + *b;
            },
            [&] {
              c.send(g());
              return true;
            });
        stolen_for_certain += sent;
        return sum;
      }
      case pairing::first_blocks: {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
        const auto [sum, written] = fj::fork_join(
            [&] {
              const number a = f();
              number b = 0;
              const auto read_it = [&] { return ::read(ends[0], &b, sizeof b); };
              const auto got = seed % 2 == 0 ? fj::blocking(read_it) : fj::blocking_now(read_it);
              return got == sizeof b ? a * 31 + b : 0;
            },
            [&] {
              const number b = g();
              return ::write(ends[1], &b, sizeof b);
            });
        ::close(ends[0]);
        ::close(ends[1]);
        return written == sizeof(number) ? sum : 0;
      }
      case pairing::first_reads: {
        const auto pipe = test::make_pipe();
        const auto [sum, written] = fj::fork_join(
            [&] {
              const number a = f();
              number b = 0;
              return fj::read(pipe.first, &b, sizeof b) == sizeof b ? a * 31 + b : 0;
            },
            [&] {
              const number b = g();
              return fj::write(pipe.second, &b, sizeof b);
            });
        return written == sizeof(number) ? sum : 0;
      }
      case pairing::both_sleep: {
        const auto after_sleep = [](number us, const auto& branch) {
          fj::sleep_for(std::chrono::microseconds(us));
          return branch();
        };
        const auto [a, b] =
            fj::fork_join([&] { return after_sleep(seed % 50, f); }, [&] { return after_sleep(seed % 30, g); });
        return a * 31 + b;
      }
    }
    return 0;
  }
};

template <class How>
number grow(number seed, unsigned forks) {
  test::dice dice(seed);
  if (forks == 0) {
    number sum = seed;
    for (unsigned steps = dice.once_in(20) ? dice.below(2000) : dice.below(10); steps > 0; --steps) sum ^= dice.next();
    return sum;
  }
  const auto how = static_cast<pairing>(dice.below(pairings));
  const number seeds[2] = {dice.next(), dice.next()};
  // Mostly even, at times one-sided to either side.
  const unsigned kind = dice.below(8);
  const unsigned left = kind == 0 ? forks - 1 : kind == 1 ? 0 : (forks - 1) / 2;
  return How::run(
             how, seed, [&] { return grow<How>(seeds[0], left); },
             [&] { return grow<How>(seeds[1], forks - 1 - left); }) ^
         seed;
}

number from_environment(const char* name, number otherwise) {
  const char* const text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct tree {
  number seed;
  unsigned forks;
};

tree some_tree(test::dice& dice) {
  static constexpr unsigned sizes[] = {1, 3, 10, 30, 60};
  const unsigned most = sizes[dice.below(5)];
  return {dice.next(), 1 + dice.below(most)};
}

void check_runs(unsigned p, bool every_fork, bool chaotic, number base, unsigned runs) {
  test::dice dice(base * 1000 + p * 10 + 2 * every_fork + chaotic);
  fj::options chosen = test::with(p, every_fork ? test::stealing::every_fork : test::stealing::by_need);
  chosen.chaos = chaotic ? dice.next() | 1 : 0;
  chosen.go_stack_size = std::size_t{1} << 20;  // sanitizers make frames large
  char what[128] = "";
  std::snprintf(what, sizeof(what), "talking trees%s%s, FORKJOIN_TEST_SEED=%llu",
                every_fork ? ", every fork stolen" : "", chaotic ? ", chaos" : "",
                static_cast<unsigned long long>(base));
  CAPTURE(what);
  CAPTURE(p);
  const test::watchdog dog(what, p, 60 + runs / 100);
  fj::runtime rt(chosen);
  talking::stolen_for_certain = 0;
  while (runs > 0 || talking::stolen_for_certain == 0) {
    // Some at once, so that they wait among each other's records; and the thread outside waits for the first of them.
    const unsigned at_once = 1 + dice.below(4);
    runs -= std::min(runs, at_once);
    std::vector<tree> trees;
    std::vector<fj::future<number>> grown;
    for (unsigned i = 0; i < at_once; ++i) trees.push_back(some_tree(dice));
    for (unsigned i = 1; i < at_once; ++i)
      grown.push_back(rt.go([t = trees[i]] { return grow<talking>(t.seed, t.forks); }));
    const auto check = [&](const tree& t, number result) {
      if (result == grow<serially>(t.seed, t.forks)) return;
      FAIL_CHECK("the tree of seed " << t.seed << " with " << t.forks << " forks has a wrong result");
    };
    check(trees[0], rt.run([t = trees[0]] { return grow<talking>(t.seed, t.forks); }));
    for (unsigned i = 1; i < at_once; ++i) check(trees[i], grown[i - 1].get());
  }
  // At P = 1 no other worker steals: these are records that waiting fibers left.
  const fj::counters seen = rt.stats().total();
  CHECK(seen.steals >= talking::stolen_for_certain);
  CHECK(seen.suspensions > 0);
}

}  // namespace

TEST_CASE("talking trees: branches that wait for one another, in random trees") {
  const auto runs = static_cast<unsigned>(from_environment("FORKJOIN_TEST_RUNS", test::divided(8'000u)));
  const number base = from_environment("FORKJOIN_TEST_SEED", 1);
  for (const unsigned p : {1u, 2u, 8u, 64u})
    for (const bool every_fork : {false, true})
      for (const bool chaotic : {false, true}) check_runs(p, every_fork, chaotic, base, runs / 16 + 1);
}
