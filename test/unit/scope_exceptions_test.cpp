// What a scope throws, and what it no longer starts, when strands meet in a certain order.
#include <doctest/doctest.h>

#include <atomic>

#include "test/support.hpp"

namespace {

struct failure {
  int number;
};

template <class F>
int number_thrown(F f) {
  try {
    f();
  } catch (const failure& e) {
    return e.number;
  }
  return -1;
}

// As many strands at once as there are P, so the other strands have ended, or wait in a join.
void meet(std::atomic<unsigned>& present, unsigned procs) {
  const auto attend = [&] {
    ++present;
    test::spin_until([&] { return present >= procs; });
  };
  if (procs == 2) fj::fork_join(attend, attend);
  if (procs == 3) fj::fork_join(attend, attend, attend);
}

}  // namespace

// With the same number for all of the scope's forks (tried), the second child's exception left the join.
TEST_CASE("scope: the exception of the first fork leaves the join, also if it comes last") {
  const test::watchdog dog("scope: first fork's exception", 3);
  fj::runtime rt(test::with_procs(3));
  for (unsigned round = 0; round < test::divided(20u); ++round) {
    CHECK(number_thrown([&] {
            rt.run([] {
              std::atomic<bool> after{false};
              std::atomic<unsigned> present{0};
              fj::scope s;
              s.fork([&] {
                test::spin_until([&] { return after.load(); });
                meet(present, 3);  // the second child has thrown
                throw failure{1};
              });
              for (int i = 0; i < 5; ++i) s.fork([] {});  // the first fork of a strand takes another path
              s.fork([&] {
                test::spin_until([&] { return after.load(); });
                throw failure{2};
              });
              after = true;
              s.join();
            });
          }) == 1);
  }
}

// If fork checks only the token (tried), all children start.
TEST_CASE("scope: after a child has thrown no child starts") {
  const test::watchdog dog("scope: no start after an exception", 2);
  fj::runtime rt(test::with_procs(2));
  for (unsigned round = 0; round < test::divided(20u); ++round) {
    std::atomic<int> started{0};
    CHECK(number_thrown([&] {
            rt.run([&] {
              std::atomic<bool> went_on{false};
              std::atomic<unsigned> present{0};
              fj::scope s;
              s.fork([&] {
                test::spin_until([&] { return went_on.load(); });
                throw failure{1};
              });
              went_on = true;
              meet(present, 2);  // the child has thrown
              CHECK(s.stopped());
              for (int i = 0; i < 10; ++i) s.fork([&started] { ++started; });
              s.join();
            });
          }) == 1);
    CHECK(started == 0);
  }
}

// If the children's word always counts as an exception (tried), it was fj::cancelled.
TEST_CASE("with_scope: the body's exception comes before what was left out") {
  test::for_each_runtime("with_scope: body and left out", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    fj::stop_source source;
    source.request_stop();
    CHECK(number_thrown([&] {
            rt.run([&] {
              fj::with_scope(source.get_token(), [](fj::scope& s) {
                s.fork([] {});
                throw failure{5};
              });
            });
          }) == 5);
  });
}
