// A tree of forks of all kinds, in which some leaves throw. Inner nodes alternate between two translation units, so
// that exceptions cross from one to the other. throwing_test.py puts the units into an executable and a shared library.
#pragma once

#include <atomic>
#include <tuple>

#include "forkjoin/forkjoin.hpp"

namespace throwing {

struct failure {
  long leaf;
};

/// Which leaves throw: those with number % every == first.
struct thrower {
  long first;
  long every;
};

/// Counts the frames that no exception and no return has left.
struct counted {
  explicit counted(std::atomic<long>& n) : alive(n) { ++alive; }
  ~counted() { --alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  std::atomic<long>& alive;
};

/// Forks and joins when it is destroyed, also during unwinding.
struct forks_at_last {
  explicit forks_at_last(std::atomic<long>& n) : alive(n) {}
  ~forks_at_last() {
    fj::fork_join([this] { const counted c(alive); }, [this] { const counted c(alive); });
    fj::scope s;
    s.fork([this] { const counted c(alive); });
  }
  forks_at_last(const forks_at_last&) = delete;
  forks_at_last& operator=(const forks_at_last&) = delete;
  std::atomic<long>& alive;
};

using subtree = long(int depth, long number, thrower bad, std::atomic<long>& alive);

subtree in_program;  ///< each calls the other for the nodes below
subtree in_library;

/// The number of leaves below a node, the first of which has that number.
template <subtree& Below>
[[gnu::always_inline]] inline long leaves(int depth, long number, thrower bad, std::atomic<long>& alive) {
  const counted frame(alive);
  if (depth == 0) {
    if (bad.every != 0 && number % bad.every == bad.first) throw failure{number};
    return 1;
  }
  const auto left = [&] { return Below(depth - 1, number, bad, alive); };
  const auto right = [&] { return Below(depth - 1, number + (1L << (depth - 1)), bad, alive); };
  long a = 0, b = 0;
  switch (number / 4 % 4) {
    case 0: {
      std::tie(a, b) = fj::fork_join(left, right);
      break;
    }
    case 1: {
      std::tie(a, b) = fj::fork_join<fj::tasks>(left, right);
      break;
    }
    case 2: {
      const forks_at_last guard(alive);
      fj::with_scope([&](fj::scope& s) {
        s.fork([&] { a = left(); });
        b = right();
      });
      break;
    }
    default:
      try {
        fj::with_scope([&](fj::scope& s) {
          s.fork([&] { a = left(); });
          s.fork([&] { b = right(); });
        });
      } catch (...) {
        const forks_at_last guard(alive);
        fj::fork_join([&] { const counted c(alive); }, [&] { const counted c(alive); });
        throw;  // the handled exception goes with the strand, to any thread
      }
  }
  return a + b;
}

}  // namespace throwing
