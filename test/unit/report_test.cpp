// What FORKJOIN_STATS=1 prints: shares of the time, and one hint.
#include "runtime/report.hpp"

#include <doctest/doctest.h>

#include "test/support.hpp"

namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("report: it has one hint, about the most important point") {
  constexpr std::uint64_t second = 1'000'000'000;
  const auto hint_of = [](const fj::stats& read, bool every_fork = false) {
    const std::string text = fj::detail::report(read, every_fork);
    const std::size_t at = text.find("forkjoin: hint: ");
    REQUIRE(at != std::string::npos);
    CHECK(text.find("forkjoin: hint: ", at + 1) == std::string::npos);
    return text.substr(at + 16, text.find('\n', at) - at - 16);
  };
  fj::stats read;
  read.procs.resize(2);
  read.procs_in_use = 2;
  CHECK(has(hint_of(read), "no job"));
  read.lived_ns = 3 * second;
  read.working_ns = 2 * second;
  read.procs[0].busy_ns = 2 * second;
  CHECK(has(hint_of(read), "nothing was stolen"));
  CHECK(has(hint_of(read, true), "every fork is stolen"));
  read.procs[1].steals = 1'000'000;
  CHECK(has(hint_of(read), "a steal for each 2 us of work: larger leaves"));
  read.procs[1].steals = 10;
  read.procs[0].busy_ns = second / 2;
  CHECK(has(hint_of(read), "idle for most of the time"));
  read.procs[0].busy_ns = 2 * second;
  read.procs[1].busy_ns = second;
  read.procs[1].looking_ns = second / 2;
  read.procs[1].parks = 7;
  CHECK(has(hint_of(read), "none"));
  const std::string text = fj::detail::report(read, false);
  CHECK(has(text, "lived for 3 s and had jobs for 2 s, on 2 P\n"));
  CHECK(has(text,
            "worked for 75 % of the time, looked for work for 13 %, and were idle for 12 %: 7 times a worker slept"));
  CHECK(has(text, "10 steals, one for each 300 ms of work"));
  CHECK(has(text, "\n   0   100     0 "));
  CHECK(has(text, "\n   1    50    25 "));
  CHECK(has(text, "\n all    75    13 "));
  CHECK(!has(text, "chaos"));
  CHECK(has(fj::detail::report(read, false, 42), "forkjoin: chaos, as asked for, by seed 42\n"));
  read.procs_in_use = 1;
  CHECK(has(hint_of(read), "not all P are in use"));
  CHECK(has(fj::detail::report(read, false), "on 2 P, 1 of them in use at last\n"));
  read.procs_in_use = 2;
  read.threads_refused = 1;
  CHECK(has(hint_of(read), "refused threads"));
  CHECK(has(fj::detail::report(read, false), "the system refused 1 thread, and"));
  read.threads_refused = 0;
  read.procs.resize(1);
  CHECK(has(hint_of(read), "one P"));
}

TEST_CASE("report: a missing membarrier is named when it costs something") {
  fj::stats read;
  read.procs.resize(2);
  CHECK_FALSE(has(fj::detail::report(read, false), "membarrier"));
  read.forks_fence = true;
  CHECK(has(fj::detail::report(read, false), "each fork passes a fence"));
  read.forks_fence = false;
  read.fences_unanswered = 3;
  CHECK(has(fj::detail::report(read, false), "3 times a thread did not answer the signal in its place"));
}

// Tried with the sum over all joins that waited: 1 us.
TEST_CASE("report: lateness is that of the joins of which it is known") {
  fj::stats read;
  read.procs.resize(1);
  CHECK_FALSE(has(fj::detail::report(read, false), "had to wait"));
  read.procs[0].join_waits = 4;
  CHECK(has(fj::detail::report(read, false), "4 joins had to wait for a stolen branch\n"));
  read.procs[0].joins_late[1] = 2;
  read.procs[0].late_ns = 4000;
  read.procs[0].most_late_ns = 3000;
  CHECK(has(fj::detail::report(read, false), "strands went on 2 us after its end on average, 3 us at most"));
}
