// The pool of roots: mpirun -n RANKS steal_pool_test CASE. Rank 0 prints "CASE: right" if all checks of all ranks hold.
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <forkjoin/mpi.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/harness/ways/serial.hpp"
#include "bench/kernels/nqueens/nqueens.hpp"
#include "bench/kernels/uts/uts.hpp"

// The kernels' serial programs, which are compiled beside this.
template <>
void bench::uts::problem<bench::ways::serial>::run();
template <>
void bench::nqueens::problem<bench::ways::serial>::run();

namespace {

using namespace std::chrono_literals;
using fj::mpi::session;
using fj::mpi::steal_pool;
using fj::mpi::steal_pool_options;
using fj::mpi::steal_pool_stats;

std::atomic<int> wrong{0};

void check(bool holds, const char* what, int line) {
  if (holds) return;
  ++wrong;
  std::printf("line %d: %s\n", line, what);
}
#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __LINE__)

// Calls f in runtimes of one, two and eight P. All ranks have called it for one number before the next.
template <class F>
void for_each_runtime(const session& mpi, F f) {
  for (const unsigned procs : {1u, 2u, 8u}) {
    fj::runtime rt({.procs = procs});
    rt.run(f);
    mpi.barrier();
  }
}

template <class Problem>
std::uint64_t serial(long size) {
  Problem problem(size);
  problem.run();
  return problem.result();
}

// --- uts ---

// A node adds its children as roots; one of `grain` or lower counts them by forks.
bench::uts::tally visit_by_forks(const bench::uts::tree& t, const bench::uts::node& n) {
  const int children = n.children(t);
  return fj::fork_reduce(0, children, bench::uts::tally{1, children == 0, n.height}, std::plus<>(),
                         [&](int i) { return visit_by_forks(t, n.child(i)); });
}

bench::uts::tally visit(const session& mpi, const bench::uts::tree& t, int grain, steal_pool<bench::uts::node>& pool) {
  if (mpi.rank() == 0) pool.add(bench::uts::node::root(t));
  return pool.run(
      bench::uts::tally{},
      [&](const bench::uts::node& n) {
        if (n.height >= grain) return visit_by_forks(t, n);
        const int children = n.children(t);
        for (int i = 0; i < children; ++i) pool.add(n.child(i));
        return bench::uts::tally{1, children == 0, n.height};
      },
      std::plus<>());
}

// A rank asks at most one rank at random each time it has no root, and each lifeline once until that has sent some.
// (Tried with lifelines that are asked again: uts does not end.)
void check_bound(const session& mpi, const steal_pool_stats& did) {
  const int lifelines = std::bit_width(static_cast<unsigned>(mpi.ranks() - 1));
  CHECK(did.asked <= did.waits);
  CHECK(did.lifelines <= lifelines + did.received);
  CHECK(did.waits <= did.begun + 1);
}

void uts(const session& mpi) {
  for (const bench::uts::tree& t : {bench::uts::trees[0], bench::uts::trees[1]}) {
    const std::uint64_t expected = serial<bench::uts::problem<bench::ways::serial>>(t.nodes);
    for_each_runtime(mpi, [&] {
      for (const int grain : {0, 3, 1'000'000}) {
        steal_pool<bench::uts::node> pool(mpi);
        CHECK(visit(mpi, t, grain, pool).digest() == expected);
        check_bound(mpi, pool.stats());
      }
    });
  }
}

// --- n queens ---

struct places {
  bench::nqueens::board queens{};
  int row = 0;
};

long queens_by_forks(const places& p, int n) {
  if (p.row == n) return 1;
  return fj::fork_reduce(0, n, 0L, std::plus<>(), [&](int column) {
    if (!bench::nqueens::safe(p.queens, p.row, column)) return 0L;
    places next{p.queens, p.row + 1};
    next.queens[static_cast<std::size_t>(p.row)] = static_cast<signed char>(column);
    return queens_by_forks(next, n);
  });
}

void nqueens(const session& mpi) {
  constexpr int n = 8;
  const std::uint64_t expected = serial<bench::nqueens::problem<bench::ways::serial>>(n);
  for_each_runtime(mpi, [&] {
    for (const int grain : {0, 2, n}) {
      steal_pool<places> pool(mpi);
      if (mpi.rank() == mpi.ranks() - 1) pool.add({});
      const long found = pool.run(
          0L,
          [&](const places& p) {
            if (p.row >= grain) return queens_by_forks(p, n);
            for (int column = 0; column < n; ++column) {
              if (!bench::nqueens::safe(p.queens, p.row, column)) continue;
              places next{p.queens, p.row + 1};
              next.queens[static_cast<std::size_t>(p.row)] = static_cast<signed char>(column);
              pool.add(next);
            }
            return 0L;
          },
          std::plus<>());
      CHECK(static_cast<std::uint64_t>(found) == expected);
    }
  });
}

// --- other cases ---

// No root at all; then, in the same pool, roots on all ranks.
void empty(const session& mpi) {
  for_each_runtime(mpi, [&] {
    steal_pool<int> pool(mpi);
    for (int round = 0; round < 20; ++round) {
      const bool none = round % 2 == 0;
      if (!none)
        for (int i = 0; i < round; ++i) pool.add(mpi.rank() + 1);
      const long sum = pool.run(0L, [](int root) { return long{root}; }, std::plus<>());
      CHECK(sum == (none ? 0L : long{round} * mpi.ranks() * (mpi.ranks() + 1) / 2));
    }
  });
  // Outside of any runtime: in the default one.
  steal_pool<int> pool(mpi);
  pool.add(1);
  CHECK(pool.run(0, [](int root) { return root; }, std::plus<>()) == mpi.ranks());
}

// Roots that are not trivially copyable: a path from the root of a tree, of three children to each node.
void packed(const session& mpi) {
  constexpr std::size_t depth = 7;
  constexpr long leaves = 2'187;
  const auto pack = [](const std::string& path) {
    const auto bytes = std::as_bytes(std::span(path));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const auto unpack = [](std::span<const std::byte> bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  for_each_runtime(mpi, [&] {
    // Three roots of the longest in a message.
    steal_pool<std::string> pool(mpi, pack, unpack, {.message_size = 3 * (8 + depth)});
    if (mpi.rank() == 0) pool.add("");
    const long sum = pool.run(
        0L,
        [&](const std::string& path) {
          if (path.size() == depth)
            return std::ranges::all_of(path, [](char c) { return c >= '0' && c < '3'; }) ? 1L : 0L;
          for (const char c : {'0', '1', '2'}) pool.add(path + c);
          return 0L;
        },
        std::plus<>());
    CHECK(sum == leaves);
  });

  // One that fits no message ends the run where it should be packed.
  if (mpi.ranks() == 1) return;
  fj::runtime rt({.procs = 1});
  rt.run([&] {
    steal_pool<std::string> small(mpi, pack, unpack, {.message_size = 12});
    if (mpi.rank() == 0)
      for (int i = 0; i < 100; ++i) small.add("12345");
    std::string said;
    try {
      small.run(
          0,
          [](const std::string&) {
            std::this_thread::sleep_for(10ms);
            return fj::yield(), 1;
          },
          std::plus<>());
    } catch (const std::exception& e) {
      said = e.what();
    }
    CHECK(said.find("a root is packed into 5 bytes, and messages have steal_pool_options::message_size, 12") !=
          std::string::npos);
  });
}

// Handlers that wait: no more than two for each P begin, and the other roots are handed on. (Tried without the limit:
// fails.)
void waits(const session& mpi) {
  for_each_runtime(mpi, [&] {
    steal_pool<int> pool(mpi);
    if (mpi.rank() == 0)
      for (int i = 0; i < 400; ++i) pool.add(i);
    std::atomic<unsigned> now{0}, most{0};
    const long sum = pool.run(
        0L,
        [&](int root) {
          const unsigned running = ++now;
          if (running > most) most = running;
          fj::sleep_for(5ms);
          --now;
          return long{root};
        },
        std::plus<>());
    CHECK(sum == 79'800);
    CHECK(most <= 2 * fj::procs());
    if (mpi.ranks() > 1) CHECK(mpi.rank() == 0 ? pool.stats().given > 0 : true);
  });
}

// A root that no rank may begin yet stays where it is. If a full rank asks for roots (tried), two hand it to each other
// thousands of times.
void busy(const session& mpi) {
  for_each_runtime(mpi, [&] {
    steal_pool<int> pool(mpi, {.most_begun = 1});
    pool.add(0);
    const long sum = pool.run(
        0L,
        [&](int root) {
          if (root == 0) fj::sleep_for(50ms);
          if (root == 0 && mpi.rank() == 0) pool.add(1);
          fj::sleep_for(100ms);
          return 1L;
        },
        std::plus<>());
    CHECK(sum == mpi.ranks() + 1);
    CHECK(pool.stats().given <= 2);
  });
}

// While the first handler runs, all others ask in vain. What it adds then finds them all by the lifelines. (Tried with
// gifts that are not sent, and with gifts whose roots are lost: fails. With answers that are not counted it does not
// end.)
void lifelines(const session& mpi) {
  fj::runtime rt({.procs = 1});
  rt.run([&] {
    steal_pool<int> pool(mpi);
    if (mpi.rank() == 0) pool.add(0);
    const long sum = pool.run(
        0L,
        [&](int root) {
          if (root == 0) {
            fj::sleep_for(100ms);
            for (int i = 0; i < 200; ++i) pool.add(1);
          }
          std::this_thread::sleep_for(5ms);
          return 1L;
        },
        std::plus<>());
    CHECK(sum == 201);
    const steal_pool_stats did = pool.stats();
    if (mpi.rank() != 0) CHECK(did.received > 0 && did.begun > 0);
    check_bound(mpi, did);
  });
}

// The end is not seen too early. First all runners wait, and ask one another. Then the root of rank 1 ends, and the
// rank joins the reduction. Then it gets a root by a lifeline; while that runs, it asks rank 0 again. So when rank 0
// joins, as many messages were sent as received. (Tried with one reduction in place of two, and with a rank that is
// quiet while a handler runs: fails.)
void early(const session& mpi) {
  fj::runtime rt({.procs = 2});
  rt.run([&] {
    steal_pool<int> pool(mpi);
    pool.add(mpi.rank() == 0 ? 0 : 3);
    std::atomic<int> elsewhere{0};
    const int sum = pool.run(
        0,
        [&](int root) {
          if (root == 3) {
            fj::sleep_for(100ms);
          } else if (root == 0) {
            fj::sleep_for(300ms);
            pool.add(1);
            pool.add(1);
            fj::sleep_for(200ms);
          } else if (root == 1 && mpi.rank() != 0) {
            ++elsewhere;
            fj::sleep_for(500ms);
            for (int i = 0; i < 3; ++i) pool.add(2);
          }
          return 1;
        },
        std::plus<>());
    int moved = elsewhere;
    mpi.all_reduce(moved, MPI_SUM);
    CHECK(sum == 2 + mpi.ranks() + 3 * moved);
  });
}

// A rank keeps no more roots than it is told to, though a handler adds many at once. (Tried without the bound: fails.)
void full(const session& mpi) {
  constexpr int children = 1'000;
  fj::runtime rt({.procs = 1});
  rt.run([&] {
    steal_pool<int> pool(mpi, {.most_roots = 8});
    if (mpi.rank() == 0) pool.add(0);
    std::atomic<int> begun{0};
    const long sum = pool.run(
        0L,
        [&](int root) {
          const int before = begun++;
          if (root == 0)
            for (int i = 0; i < children; ++i) pool.add(1);
          // Of those that were added before the last one, all but the eight kept here and those given have begun.
          if (root == 0) CHECK(begun - before - 1 + 8 + pool.stats().given >= children);
          return 1L;
        },
        std::plus<>());
    CHECK(sum == children + 1);
  });
}

// A handler throws on one rank: it ends the run on all, and each knows why. The pool is empty then, and usable. (Tried
// with others that are not told: does not end.)
void fails(const session& mpi) {
  for_each_runtime(mpi, [&] {
    steal_pool<int> pool(mpi);
    for (const int thrower : {0, mpi.ranks() - 1}) {
      for (int i = 0; i < 100; ++i) pool.add(1);
      std::string said;
      try {
        pool.run(
            0,
            [&](int root) {
              if (mpi.rank() == thrower) throw std::range_error("no such place");
              pool.add(root);  // without an end
              return 0;
            },
            std::plus<>());
      } catch (const std::range_error& e) {
        CHECK(mpi.rank() == thrower);
        said = e.what();
      } catch (const fj::mpi::rank_failed& e) {
        CHECK(mpi.rank() != thrower && e.rank() == thrower);
        said = std::string(e.what()).substr(std::strlen("fj::mpi::steal_pool::run: rank 0 has thrown: "));
      }
      CHECK(said == "no such place");
      CHECK(!pool.stopped());
    }
    // On all ranks at once: each throws its own.
    pool.add(mpi.rank());
    int mine = -1;
    try {
      pool.run(
          0,
          [&](int) {
            mpi.barrier();
            return mpi.rank() == mpi.rank() ? throw mpi.rank() : 0;
          },
          std::plus<>());
    } catch (int rank) {
      mine = rank;
    }
    CHECK(mine == mpi.rank());
    pool.add(1);
    CHECK(pool.run(0, [](int root) { return root; }, std::plus<>()) == mpi.ranks());
  });
}

// Nodes that sleep as if they computed, on each rank one at a time. Prints what share of the time of all ranks they
// take: mpirun -n 4 steal_pool_test sleep [tree [us]]
void sleep(const session& mpi, int tree, std::chrono::microseconds each) {
  const bench::uts::tree& t = bench::uts::trees[tree];
  fj::runtime rt({.procs = 1});
  rt.run([&] {
    steal_pool<bench::uts::node> pool(mpi);
    mpi.barrier();
    const auto begin = fj::now();
    double slept = 0;
    if (mpi.rank() == 0) pool.add(bench::uts::node::root(t));
    const long nodes = pool.run(
        0L,
        [&](const bench::uts::node& n) {
          const auto before = fj::now();
          std::this_thread::sleep_for(each);
          slept += std::chrono::duration<double>(fj::now() - before).count();
          for (int i = 0; i < n.children(t); ++i) pool.add(n.child(i));
          return 1L;
        },
        std::plus<>());
    const double took = std::chrono::duration<double>(fj::now() - begin).count();
    CHECK(nodes == t.nodes);
    const steal_pool_stats did = pool.stats();
    check_bound(mpi, did);
    std::printf("rank %d: begun %ld, slept %.3f of %.3f s\n", mpi.rank(), did.begun, slept, took);
    std::array<long, 5> sum{did.given, did.received, did.waits, did.asked, did.lifelines};
    mpi.all_reduce(sum, MPI_SUM);
    mpi.all_reduce(slept, MPI_SUM);
    if (mpi.rank() != 0) return;
    std::printf("efficiency %.3f; given %ld in %ld messages, waits %ld, asked %ld, lifelines %ld\n",
                slept / took / mpi.ranks(), sum[0], sum[1], sum[2], sum[3], sum[4]);
  });
}

const std::map<std::string, void (*)(const session&)> cases = {
    {"uts", uts},   {"nqueens", nqueens},     {"empty", empty}, {"packed", packed}, {"waits", waits},
    {"busy", busy}, {"lifelines", lifelines}, {"early", early}, {"full", full},     {"fails", fails},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const session mpi;
  if (cases.contains(name)) {
    cases.at(name)(mpi);
  } else if (name == "sleep") {
    sleep(mpi, argc > 2 ? std::atoi(argv[2]) : 0, std::chrono::microseconds(argc > 3 ? std::atoi(argv[3]) : 1'000));
  } else {
    return 2;
  }
  int failed = wrong;
  mpi.all_reduce(failed, MPI_SUM);
  if (mpi.rank() == 0) std::printf("%s: %s\n", name.c_str(), failed == 0 ? "right" : "wrong");
  return failed != 0;
}
