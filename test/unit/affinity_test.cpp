// Which half of a loop a P does first: the half with its section, always the same one, and still with the serial loop's
// exception.
#include "forkjoin/loops/affinity.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "forkjoin/parallel_for.hpp"
#include "test/support.hpp"

namespace {

using part = std::pair<std::size_t, std::size_t>;

// The part of a loop that the calling P reaches if it always does its first half first.
part first_part(std::size_t begin, std::size_t end) {
  const fj::detail::affinity near(begin, end);
  part at(begin, end);
  while (at.second - at.first > 1) {
    const std::size_t middle = at.first + (at.second - at.first) / 2;
    const std::size_t before = at.second - at.first;
    (near.takes_second(at.first, middle, at.second) ? at.first : at.second) = middle;
    if (before <= (end - begin) / fj::procs()) break;
  }
  return at;
}

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

// Tried with every P beginning in the first half: fails.
TEST_CASE("each P begins a loop in a part of its own") {
  test::for_each_procs([](unsigned p) {
    CAPTURE(p);
    const test::watchdog dog("parts of a loop", p);
    fj::runtime rt(test::with_procs(p));
    for (const std::size_t n : {std::size_t(p), std::size_t(2 * p + 1), std::size_t(1000), std::size_t(1 << 20)}) {
      CAPTURE(n);
      std::vector<part> parts(p);
      on_each_proc(rt, p, [&](int here) { parts[static_cast<std::size_t>(here)] = first_part(5, 5 + n); });
      std::size_t beyond = 5;
      for (const part& one : parts) {
        CHECK(one.first >= beyond);
        CHECK(one.second > one.first);
        beyond = one.second;
      }
      CHECK(beyond <= 5 + n);
    }
  });
}

// While the other P is busy, this P does the whole loop. Tried without the exchange of the halves: fails.
TEST_CASE("a P begins with its half of a loop") {
  fj::runtime rt(test::with_procs(2));
  for (const int chosen : {0, 1}) {
    CAPTURE(chosen);
    const test::watchdog dog("own half first", 2);
    std::vector<int> order;
    std::atomic<bool> done = false;
    on_each_proc(rt, 2, [&](int here) {
      if (here == chosen) {
        fj::parallel_for(0, 2, [&](int i) { order.push_back(i); }, {.grain = 1});
        done = true;
      } else {
        test::spin_until([&] { return done.load(); });
      }
    });
    CHECK(order == (chosen == 0 ? std::vector{0, 1} : std::vector{1, 0}));
  }
}

// Tried without keeping the second half's exception: fails.
TEST_CASE("when the second half throws before the first, the first half is finished and its exception wins") {
  fj::runtime rt(test::with_procs(2));
  for (const bool both : {false, true}) {
    for (const int chosen : {0, 1}) {
      CAPTURE(both);
      CAPTURE(chosen);
      const test::watchdog dog("exceptions of halves", 2);
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
