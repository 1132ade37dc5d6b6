// Random programs in which a strand forks into its scopes and joins them anywhere: under forks that began later, within
// scopes that it made later, and in handlers, by every policy. Each child and each branch must run once.
//
// Tried with a scope that pops its kept children's records under a later fork, and with one that waits there, but
// forgets the children whose records the deque still names: both fail in the first runs.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "forkjoin/go.hpp"
#include "test/support.hpp"

namespace {

struct tally {
  std::atomic<long> expected{0}, ran{0};
};

template <class Policy>
class program {
 public:
  explicit program(tally& all) : all_(all) {}

  void run(std::uint64_t seed, int depth) {
    if (depth <= 0) {
      ++all_.ran;
      return;
    }
    test::dice dice(seed);
    fj::basic_scope<Policy> s;
    steps(s, dice, depth);
    if (dice.once_in(2)) s.join();
  }

  // What the strand that made the scope does.
  void steps(fj::basic_scope<Policy>& s, test::dice& dice, int depth) {
    if (depth <= 0) return;
    const auto other = [this, depth, seed = dice.next()] { run_expected(seed, depth - 1); };
    const auto go_on = [&] { steps(s, dice, depth - 1); };
    for (unsigned left = 1 + dice.below(4); left > 0; --left) {
      switch (dice.below(8)) {
        case 0:
          s.fork(other);
          break;
        case 1:
          ++all_.expected;
          s.fork([this, owned = std::make_unique<int>(1)] { all_.ran += *owned; });
          break;
        case 2:
          s.join();
          break;
        case 3:
          fj::fork_join(go_on, other);
          break;
        case 4:
          fj::fork_join<Policy>(other, other);
          break;
        case 5:
          try {
            throw std::runtime_error("handled, and longer than what a string keeps in itself");
          } catch (const std::runtime_error&) {
            go_on();
            fj::fork_join(go_on, other);
          }
          break;
        case 6: {
          fj::basic_scope<Policy> inner;
          steps(inner, dice, depth - 1);
          go_on();
          steps(inner, dice, depth - 2);
          break;
        }
        default:
          if (dice.once_in(4)) fj::yield();
      }
    }
  }

 private:
  void run_expected(std::uint64_t seed, int depth) {
    if (depth <= 0) ++all_.expected;
    run(seed, depth);
  }

  tally& all_;
};

}  // namespace

TEST_CASE("nested joins: random programs, by every policy") {
  for (unsigned i = 0; i < test::divided(60u); ++i) {
    test::dice dice(i);
    const unsigned p = 1 + dice.below(4);
    fj::options options = test::with_procs(p);
    options.steal_every_fork = dice.once_in(2);
    options.chaos = dice.once_in(2) ? dice.next() : 0;
    CAPTURE(i);
    const test::watchdog dog("nested joins", p);
    test::for_each_policy([&]<class Policy>(Policy) {
      tally all;
      {
        fj::runtime rt(options);
        for (int k = 0; k < 4; ++k) rt.run([&, seed = dice.next()] { program<Policy>(all).run(seed, 5); });
      }
      CHECK(all.ran == all.expected);
    });
  }
}
