// Random trees of scopes, with_scope and fork_join of both policies, with exceptions at random places, cancellation,
// helpers that fork into scopes further up, scopes in destructors during unwinding and in handlers, and jobs for
// another runtime: millions of forks, checked against the same program run serially.
//
// Bugs that were put in, and found: a parent that goes on at the wrong depth, or without its exceptions; forks of other
// strands that are not counted, or forgotten when a join ends; the last exception instead of the first.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "test/support.hpp"

namespace {

using number = std::uint64_t;

struct failure {
  number value;
};

number work(number seed, unsigned steps) {
  test::dice dice(seed);
  while (steps-- > 0) seed ^= dice.next();
  return seed;
}

// How the tree is run.

struct serially {
  class scope {
   public:
    scope() = default;
    explicit scope(fj::stop_token stop) : stop_(std::move(stop)) {}

    template <class F>
    void fork(F f) {
      if (stop_.stop_requested()) {
        left_out_ = true;
      } else {
        f();
      }
    }

    void join() {
      if (std::exchange(left_out_, false)) throw fj::cancelled();
    }

   private:
    fj::stop_token stop_;
    bool left_out_ = false;
  };

  template <class Body>
  static number with_scope(fj::stop_token stop, Body body) {
    scope s(std::move(stop));
    const number value = body(s);
    s.join();
    return value;
  }

  template <class Policy, class F, class G>
  static std::pair<number, number> both(const F& f, const G& g) {
    const number a = f();
    return {a, g()};
  }

  template <class F>
  static number elsewhere(const F& f) {
    return f();
  }
};

struct in_parallel {
  using scope = fj::scope;

  template <class Body>
  static number with_scope(fj::stop_token stop, Body body) {
    return fj::with_scope(std::move(stop), body);
  }

  template <class Policy, class F, class G>
  static std::pair<number, number> both(const F& f, const G& g) {
    auto [a, b] = fj::fork_join<Policy>(f, g);
    return {a, b};
  }

  template <class F>
  static number elsewhere(const F& f) {
    return other->run(f);
  }

  static inline std::unique_ptr<fj::runtime> other;
};

// The number of forks below each child of a node.
template <std::size_t n>
std::array<unsigned, n> divide(unsigned forks, test::dice& dice) {
  std::array<unsigned, n> parts{};
  if (dice.once_in(5)) {
    parts[dice.below(n)] = forks;  // one-sided
    return parts;
  }
  for (std::size_t i = 0; i < n; ++i) parts[i] = forks / n + (i < forks % n);
  return parts;
}

template <class How>
number grow(number seed, unsigned forks);

// Exceptions count, too.
template <class How>
number caught(number seed, unsigned forks) noexcept {
  try {
    return grow<How>(seed, forks);
  } catch (const failure& f) {
    return work(f.value, 3) + 1;
  }
}

// Forks into a scope further up, from any strand. The sum does not depend on the order.
template <class How>
void scatter(typename How::scope& s, std::atomic<number>& sum, number seed, unsigned forks) {
  if (forks == 0) {
    sum.fetch_add(work(seed, static_cast<unsigned>(seed % 20)), std::memory_order_relaxed);
    return;
  }
  const unsigned left = (forks - 1) / 2;
  s.fork([&s, &sum, seed, left] { scatter<How>(s, sum, seed * 3, left); });
  scatter<How>(s, sum, seed * 5, forks - 1 - left);
}

// A loop of forks, joined once or twice; each child in its place of an array.
template <class How, std::size_t n, class Child>
number loop(typename How::scope& s, test::dice dice, Child child) {
  std::array<number, n> values{};
  const bool joins = dice.once_in(2);
  for (std::size_t i = 0; i < n; ++i) {
    s.fork([&values, &child, i] { values[i] = child(i); });
    if (joins && i == n / 2) s.join();
  }
  s.join();
  number sum = 0;
  for (const number v : values) sum = sum * 31 + v;
  return sum;
}

// Joins at the end of a block, also when an exception leaves it.
template <class How>
struct at_end {
  number seed;
  unsigned forks;
  number& value;

  ~at_end() {
    test::dice dice(seed);
    const std::array<unsigned, 3> parts = divide<3>(forks, dice);
    typename How::scope s;
    value = loop<How, 3>(s, dice, [&](std::size_t i) noexcept { return caught<How>(seed + i, parts[i]); });
  }
};

template <class How>
number node(number seed, unsigned forks, test::dice dice) {
  using scope = typename How::scope;
  const auto child = [seed](unsigned i, unsigned below) { return grow<How>(seed * 7 + i, below); };
  const unsigned kind = dice.below(10);
  if (kind <= 1) {
    const std::array<unsigned, 2> parts = divide<2>(forks - 1, dice);
    const auto f = [&] { return child(0, parts[0]); };
    const auto g = [&] { return child(1, parts[1]); };
    const auto [a, b] = kind == 0 ? How::template both<fj::continuations>(f, g) : How::template both<fj::tasks>(f, g);
    return a * 31 + b;
  }
  constexpr std::size_t n = 4;
  const std::array<unsigned, n> parts = divide<n>(forks > n ? forks - n : 0, dice);
  if (kind <= 4) {  // exceptions of children and of the body
    const bool throws = dice.once_in(30);
    return How::with_scope({}, [&](scope& s) {
      const number sum =
          loop<How, n>(s, dice, [&](std::size_t i) { return child(static_cast<unsigned>(i), parts[i]); });
      s.fork([] {});
      if (throws) throw failure{seed};
      return sum;
    });
  }
  if (kind == 5) {  // a plain scope: one of the children throws, but any of them
    try {
      scope s;
      return loop<How, n>(s, dice, [&](std::size_t i) { return child(static_cast<unsigned>(i), parts[i]); });
    } catch (const failure&) {
      return 7;
    }
  }
  if (kind == 6) {  // helpers, from both branches of a fork_join and from children
    std::atomic<number> sum{0};
    scope s;
    s.fork([&] { scatter<How>(s, sum, seed, parts[0]); });
    How::template both<fj::continuations>(
        [&] {
          scatter<How>(s, sum, seed + 1, parts[1]);
          if (seed & 1) s.join();
          return 0;
        },
        [&] {
          scatter<How>(s, sum, seed + 2, parts[2]);
          return 0;
        });
    s.join();
    return sum + caught<How>(seed, parts[3]);
  }
  if (kind == 7) {  // in a handler, and while an exception is in flight
    number first = 0, second = 0;
    try {
      const at_end<How> end{seed, (forks - 1) / 2, first};
      throw failure{seed};
    } catch (const failure& f) {
      { const at_end<How> end{seed + 1, (forks - 1) / 2, second}; }
      try {
        throw;
      } catch (const failure& again) {
        return first * 31 + second + (again.value == f.value);
      }
    }
  }
  if (kind == 8) {  // half of the forks do not start
    fj::stop_source stop;
    number sum = 0;
    try {
      return How::with_scope(stop.get_token(), [&](scope& s) {
        sum = loop<How, n>(s, dice, [&](std::size_t i) { return child(static_cast<unsigned>(i), parts[i]); });
        stop.request_stop();
        return sum + loop<How, n>(s, dice, [](std::size_t) -> number { throw failure{1}; });
      });
    } catch (const fj::cancelled&) {
      return sum + 11;
    }
  }
  const auto rest = [&] { return child(0, forks - 1); };
  return dice.once_in(8) ? How::elsewhere(rest) : rest();
}

template <class How>
number grow(number seed, unsigned forks) {
  test::dice dice(seed);
  if (forks == 0) {
    if (dice.once_in(100)) throw failure{seed};
    return work(seed, dice.once_in(20) ? dice.below(300) : dice.below(10));
  }
  if (dice.once_in(3)) {
    try {
      return node<How>(seed, forks, dice);
    } catch (const failure& f) {
      return work(f.value, 5) * 7 + seed;
    }
  }
  return node<How>(seed, forks, dice);
}

// Runs trees of different sizes, with about `total` forks together. Returns the number of wrong results.
unsigned check_trees(fj::runtime& rt, number seed, unsigned total) {
  test::dice dice(seed);
  unsigned wrong = 0;
  while (total > 0) {
    static constexpr unsigned sizes[] = {1, 2, 10, 100, 1'000, 10'000, 100'000};
    const unsigned forks = std::min(total, sizes[dice.below(7)]);
    const number tree = dice.next();
    wrong += rt.run([=] { return caught<in_parallel>(tree, forks); }) != caught<serially>(tree, forks);
    total -= forks;
  }
  return wrong;
}

void check_runtimes(const char* what, test::stealing how, unsigned total) {
  const test::fences fences(how);
  test::for_each_procs([=](unsigned p) {
    CAPTURE(p);
    const test::watchdog dog(what, p, 200);
    fj::runtime rt(test::with(p, how));
    in_parallel::other = std::make_unique<fj::runtime>(test::with(2, how));
    CHECK(check_trees(rt, p, total / std::size(test::procs_to_try)) == 0);
    in_parallel::other.reset();
  });
}

}  // namespace

TEST_CASE("scope trees: by need") {
  check_runtimes("scope trees", test::stealing::by_need, test::divided(10'000'000u));
}

TEST_CASE("scope trees: every fork stolen") {
  check_runtimes("scope trees, every fork stolen", test::stealing::every_fork, test::divided(500'000u));
}

TEST_CASE("scope trees: without membarrier, all records public") {
  check_runtimes("scope trees, all public", test::stealing::all_public, test::divided(3'000'000u));
}
