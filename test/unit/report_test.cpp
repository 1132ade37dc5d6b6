// What FORKJOIN_STATS=1 prints: shares of the time, and one hint.
#include "runtime/report.hpp"

#include <doctest/doctest.h>

#include "test/support.hpp"

namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("report: it has one hint, about the most important point") {
  constexpr std::uint64_t second = 1'000'000'000;
  const auto hint_of = [](const fj::stats& read, bool every_fork = false, std::uint64_t queued = 0) {
    const std::string text = fj::detail::report(read, {.steals_every_fork = every_fork, .queued_ns = queued});
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
  read.none_busy_ns = 2 * second - 1;  // no strand has waited: the job was over before
  CHECK(has(hint_of(read), "nothing was stolen"));
  read.none_busy_ns = 0;
  CHECK(has(hint_of(read, true), "every fork is stolen"));
  read.procs[1].steals = 1'000'000;
  CHECK(has(hint_of(read), "a steal for each 2 us of work: larger leaves"));
  read.procs[1].steals = 10;
  read.procs[0].busy_ns = 2 * second;
  read.procs[1].busy_ns = 2 * second - second / 2;
  read.procs[1].looking_ns = second / 2;
  read.procs[1].parks = 7;
  CHECK(has(hint_of(read), "none"));
  const std::string text = fj::detail::report(read);
  CHECK(has(text, "lived for 3 s and had jobs for 2 s, on 2 Ps\n"));
  CHECK(has(text,
            "worked for 88 % of the time, looked for work for 12 %, and were idle for 0 %: 7 times a worker slept"));
  CHECK(has(text, "10 steals, one for each 350 ms of work"));
  CHECK(has(text, "\n   0   100     0 "));
  CHECK(has(text, "\n   1    75    25 "));
  CHECK(has(text, "\n all    88    13 "));
  CHECK(!has(text, "chaos"));
  CHECK(has(fj::detail::report(read, {.chaos = 42}), "forkjoin: chaos, as asked for, by seed 42\n"));
  read.procs_in_use = 1;
  CHECK(has(hint_of(read), "none"));
  read.procs[1].busy_ns = 0;
  CHECK(has(hint_of(read), "not all Ps are in use"));
  CHECK(has(fj::detail::report(read), "on 2 Ps, 1 of them in use at last\n"));
  read.procs_in_use = 2;
  read.threads_refused = 1;
  CHECK(has(hint_of(read), "refused threads"));
  CHECK(has(fj::detail::report(read), "the system refused 1 thread, and"));
  read.threads_refused = 0;
  read.procs.resize(1);
  CHECK(has(hint_of(read), "one P"));
}

// Tried with the rule that P had to be idle for half of the time: two P had no hint where 64 had one. And with the time
// of one P alone counted whole, whether it had a processor or not: beside other programs, short loops were a serial
// part.
TEST_CASE("report: the hint is the cause that lost most of the time, on any number of P") {
  constexpr std::uint64_t second = 1'000'000'000;
  for (const unsigned procs : {2u, 4u, 64u}) {
    CAPTURE(procs);
    // So many P are busy for a second, after one alone and none were for some time.
    const auto hint_of = [&](unsigned together, double alone, double short_loops, double none, double queued = 0) {
      const auto ns = [](double seconds) { return static_cast<std::uint64_t>(seconds * static_cast<double>(second)); };
      fj::stats read;
      read.procs.resize(procs);
      read.procs_in_use = procs;
      for (unsigned i = 0; i < together; ++i) read.procs[i].busy_ns = second;
      read.procs[0].busy_ns += ns(alone);
      read.procs[1].steals = 10;
      read.procs[1].suspensions = none > 0;
      read.alone_ns = ns(alone);
      read.short_loops_ns = ns(short_loops);
      read.none_busy_ns = ns(none);
      read.lived_ns = read.working_ns = second + ns(alone + none);
      const std::string text = fj::detail::report(read, {.queued_ns = ns(queued * together)});
      return text.substr(text.find("forkjoin: hint: "));
    };
    CHECK(has(hint_of(procs, 0, 0, 0), "none"));
    CHECK(has(hint_of(procs, 0.1, 0, 0.05), "none"));
    CHECK(has(hint_of(procs, 2, 0.5, 0.5), "for 57 % of the time one P alone was busy: that part is serial"));
    CHECK(has(hint_of(procs, 2, 1.5, 0.5), "too short to be shared"));
    CHECK(has(hint_of(procs, 0.5, 0.1, 2), "all strands waited"));
    CHECK(has(hint_of(procs, 0.1, 0, 0, 0.6), "no processor ran them"));
    CHECK(has(hint_of(1, 2, 0, 0, 0.3), "that part is serial"));
    CHECK(has(hint_of(1, 2, 0, 0, 1.8), "no processor ran them"));  // of the only P that had work
    CHECK(has(hint_of(1, 4, 1.9, 0, 1), "too short to be shared"));
    if (procs > 2) CHECK(has(hint_of(procs / 2, 0.1, 0, 0.1), "too little to steal"));
  }
}

TEST_CASE("report: a missing membarrier is named when it costs something") {
  fj::stats read;
  read.procs.resize(2);
  CHECK_FALSE(has(fj::detail::report(read), "membarrier"));
  read.forks_fence = true;
  CHECK(has(fj::detail::report(read), "each fork passes a fence"));
  read.forks_fence = false;
  read.fences_unanswered = 3;
  CHECK(has(fj::detail::report(read), "3 times a thread did not answer the signal in its place"));
}

// Tried with the sum over all joins that waited: 1 us.
TEST_CASE("report: lateness is that of the joins of which it is known") {
  fj::stats read;
  read.procs.resize(1);
  CHECK_FALSE(has(fj::detail::report(read), "had to wait"));
  read.procs[0].join_waits = 4;
  CHECK(has(fj::detail::report(read), "4 joins had to wait for a stolen branch\n"));
  read.procs[0].joins_late[1] = 2;
  read.procs[0].late_ns = 4000;
  read.procs[0].most_late_ns = 3000;
  CHECK(has(fj::detail::report(read), "strands continued 2 us after its end on average, 3 us at most"));
}
