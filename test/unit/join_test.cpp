// The join word: two sides, each may come first.
#include "forkjoin/abi/join.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "forkjoin/abi/continuation.hpp"
#include "test/support.hpp"

namespace {

using namespace fj::detail;

[[gnu::aligned(16)]] outcome do_nothing(continuation&) noexcept { return outcome::returned; }

}  // namespace

TEST_CASE("join: the thief comes first") {
  for (const outcome how : {outcome::returned, outcome::threw}) {
    join word(&do_nothing);
    CHECK(!word.finished());
    CHECK((word.body() == &do_nothing));
    CHECK(word.arrive(how) == nullptr);
    CHECK(word.finished());
    CHECK(word.result() == how);
    join_waiter owner;
    CHECK(!word.wait(owner));  // the thief was faster
    CHECK(word.result() == how);
  }
}

TEST_CASE("join: the owner comes first") {
  for (const outcome how : {outcome::returned, outcome::threw}) {
    join word(&do_nothing);
    join_waiter owner;
    CHECK(word.wait(owner));
    CHECK(!word.finished());
    CHECK((word.body() == &do_nothing));  // a thief that has not read the word yet still finds the function
    CHECK(word.arrive(how) == &owner);
    CHECK(word.finished());
    CHECK(word.result() == how);
  }
}

TEST_CASE("join: exactly one of two goes on, and sees what the other wrote") {
  const test::watchdog dog("join", 2);
  long wrong = 0;
  for (unsigned round = 0; round < test::divided(2000u); ++round) {
    int by_thief = 0, by_owner = 0;
    std::atomic<int> gone_on{0};
    std::atomic<bool> go{false};
    join word(&do_nothing);
    join_waiter owner;
    std::thread thief([&] {
      test::spin_until([&] { return go.load(); });
      if (word.body() != &do_nothing) ++gone_on;
      by_thief = 1;
      if (join_waiter* const waiting = word.arrive(outcome::returned)) {
        gone_on += waiting == &owner && by_owner == 2 ? 1 : 100;
      }
    });
    by_owner = 2;
    go = true;
    if (!word.wait(owner)) gone_on += by_thief == 1 ? 1 : 100;
    thief.join();
    wrong += gone_on != 1 || !word.finished();
  }
  CHECK(wrong == 0);
}
