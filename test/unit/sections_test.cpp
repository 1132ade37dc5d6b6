// Which sections of a loop a P does first: always the same ones, and still with the serial loop's exception.
#include "forkjoin/loops/sections.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/loops/forked_sections.hpp"
#include "forkjoin/parallel_for.hpp"
#include "test/support.hpp"

namespace {

// Calls body(p) on each P of the runtime at once.
template <class Body>
void on_each_proc(fj::runtime& rt, unsigned p, Body body) {
  std::atomic<unsigned> there = 0;
  const auto fork = [&](auto self, unsigned strands) -> void {
    if (strands > 1) {
      fj::fork_join([&] { self(self, 1); }, [&] { self(self, strands - 1); });
      return;
    }
    ++there;
    test::spin_until([&] { return there == p; });
    body(fj::this_proc());
  };
  rt.run([&] { fork(fork, p); });
}

}  // namespace

// While the other P is busy, this P does the whole loop. Tried with claims that begin with the first section, and with
// a tree whose subtrees are numbered from the last bit on: fails.
TEST_CASE("a P begins a loop with a grain in its own section") {
  fj::runtime rt(test::with_procs(2));
  for (const int n : {2, 8, 100}) {
    for (const int chosen : {0, 1}) {
      CAPTURE(n);
      CAPTURE(chosen);
      const test::watchdog dog("own section first", 2);
      std::vector<int> order, expected;
      std::atomic<bool> done = false;
      on_each_proc(rt, 2, [&](int here) {
        if (here == chosen) {
          fj::parallel_for(0, n, [&](int i) { order.push_back(i); }, {.grain = 1});
          done = true;
        } else {
          test::spin_until([&] { return done.load(); });
        }
      });
      for (int i = 0; i != n; ++i) expected.push_back((i + chosen * n / 2) % n);
      CHECK(order == expected);
    }
  }
}

// Tried without keeping the later section's exception: fails.
TEST_CASE("when a later block throws before the first, the first is finished and its exception wins") {
  fj::runtime rt(test::with_procs(2));
  for (const bool both : {false, true}) {
    for (const int chosen : {0, 1}) {
      CAPTURE(both);
      CAPTURE(chosen);
      const test::watchdog dog("exceptions of blocks", 2);
      std::string thrown;
      std::atomic<int> firsts = 0;
      std::atomic<bool> done = false;
      on_each_proc(rt, 2, [&](int here) {
        if (here == chosen) {
          try {
            fj::parallel_for(0, 2,
                             [&](int i) {
                               if (i == 0) ++firsts;
                               if (i == 1) throw std::runtime_error("second");
                               if (both) throw std::runtime_error("first");
                             },
                             {.grain = 1});
          } catch (const std::runtime_error& error) {
            thrown = error.what();
          }
          done = true;
        } else {
          test::spin_until([&] { return done.load(); });
        }
      });
      CHECK(firsts == 1);
      CHECK(thrown == (both ? "first" : "second"));
    }
  }
}

// Tried with claims that begin with the first section: fails.
TEST_CASE("each section is claimed once, and Ps that come in any order get their own") {
  for (const unsigned p : {1u, 2u, 3u, 7u, 8u, 31u, 32u, 33u, 64u, 65u, 200u}) {
    for (const std::size_t n : {std::size_t(1), std::size_t(p / 2 + 1), std::size_t(p), std::size_t(1000)}) {
      CAPTURE(p);
      CAPTURE(n);
      for (const unsigned count : {fj::detail::sections::of_elements(n, p), fj::detail::sections::of_tree(n, p)}) {
        CAPTURE(count);
        REQUIRE(count > 0);
        CHECK(count <= n);
        fj::detail::sections all(count, p);
        std::vector<int> claimed(count);
        for (unsigned i = 0; i != count; ++i) {
          const unsigned proc = p - 1 - i % p;
          const unsigned section = all.claim(proc);
          REQUIRE(section < count);
          ++claimed[section];
          if (count == fj::detail::sections::per_proc * p) CHECK(section / fj::detail::sections::per_proc == proc);
        }
        CHECK(claimed == std::vector<int>(count, 1));
      }
    }
  }
}

// Tried with a load and a store in place of the read-modify-write: two claim the same.
TEST_CASE("each section is claimed once by many threads") {
  const test::watchdog dog("claims", 4);
  for (int round = 0; round != test::divided(200); ++round) {
    constexpr unsigned count = 32;
    fj::detail::sections all(count, 16);
    std::vector<std::atomic<int>> claimed(count);
    std::atomic<unsigned> there = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t != 4; ++t) {
      threads.emplace_back([&, t] {
        ++there;
        test::spin_until([&] { return there == 4; });
        for (unsigned i = 0; i != count / 4; ++i) ++claimed[all.claim(t)];
      });
    }
    for (std::thread& each : threads) each.join();
    for (const std::atomic<int>& once : claimed) CHECK(once == 1);
  }
}

// The P that does the second sections first throws there, while the first sections have not begun. Tried without
// keeping that exception: the first sections do not run.
TEST_CASE("when a later section throws before the first, the first is finished and its exception wins") {
  fj::runtime rt(test::with_procs(2));
  for (const bool both : {false, true}) {
    CAPTURE(both);
    const test::watchdog dog("exceptions of sections", 2);
    std::string thrown;
    std::vector<int> order;
    std::atomic<bool> done = false;
    on_each_proc(rt, 2, [&](int here) {
      if (here == 0) return test::spin_until([&] { return done.load(); });
      const auto run = [&](unsigned number) {
        order.push_back(static_cast<int>(number));
        if (number == 2) throw std::runtime_error("later");
        if (number == 0 && both) throw std::runtime_error("first");
      };
      try {
        fj::detail::forked_sections(4, 2, run).run();
      } catch (const std::runtime_error& error) {
        thrown = error.what();
      }
      done = true;
    });
    CHECK(order == std::vector{2, 3, 0, 1});
    CHECK(thrown == (both ? "first" : "later"));
  }
}

// The first element takes so long that the rest is shared, from the second or a later one on. Tried with sections that
// all begin at multiples of a line: the first ones of the rest are not run.
TEST_CASE("a loop that is shared from any element on runs each once") {
  for (const unsigned p : {2u, 3u, 8u}) {
    CAPTURE(p);
    const test::watchdog dog("shared late", p);
    fj::runtime rt(test::with_procs(p));
    for (const std::size_t n : {std::size_t(100), std::size_t(2'049), std::size_t(100'003)}) {
      CAPTURE(n);
      for (int slow = 0; slow != 20; ++slow) {
        std::vector<unsigned char> visits(n);
        rt.run([&] {
          fj::parallel_for(std::size_t(0), n, [&](std::size_t i) {
            if (i == static_cast<std::size_t>(slow)) std::this_thread::sleep_for(std::chrono::microseconds(400));
            ++visits[i];
          });
        });
        CHECK(visits == std::vector<unsigned char>(n, 1));
      }
    }
  }
}

// Each P begins with its own sections. Tried with claims that begin with the first section: as many come back as by
// chance.
TEST_CASE("most of a shared loop returns to the P that had it") {
  constexpr unsigned p = 4;
  for (const std::size_t grain : {0, 1000}) {
    CAPTURE(grain);
    const test::watchdog dog("sections that return", p);
    fj::runtime rt(test::with_procs(p));
    constexpr int blocks = 64, block = 1000, loops = 12;
    std::vector<int> before(blocks, -1), now(blocks, -1);
    int returned = 0;
    const auto work = [&](int i) {
      if (i % block != block / 2) return;
      now[static_cast<std::size_t>(i / block)] = fj::this_proc();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // all Ps work, however many CPUs there are
    };
    rt.run([&] {
      for (int loop = 0; loop != loops; ++loop) {
        fj::parallel_for(0, blocks * block, work, {.grain = grain});
        if (loop >= 2)
          for (std::size_t i = 0; i != blocks; ++i) returned += now[i] == before[i];
        before.swap(now);
      }
    });
    CHECK(returned > (loops - 2) * blocks / 2);  // by chance a quarter
  }
}

// Tried with subtrees found by all bits of their numbers but the last: fails.
TEST_CASE("a loop with a grain runs each block once, whatever the numbers of blocks and of Ps") {
  for (const unsigned p : {1u, 2u, 3u, 8u}) {
    CAPTURE(p);
    const test::watchdog dog("blocks", p);
    fj::runtime rt(test::with_procs(p));
    for (std::size_t n = 1; n != 150; ++n) {
      CAPTURE(n);
      std::vector<unsigned char> visits(n);
      rt.run([&] { fj::parallel_for(std::size_t(0), n, [&](std::size_t i) { ++visits[i]; }, {.grain = 1}); });
      CHECK(visits == std::vector<unsigned char>(n, 1));
    }
  }
}
