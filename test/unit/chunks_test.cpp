// What decides when a loop is shared: the trial of both ways, and the parts of a strand that is alone.
#include "forkjoin/loops/chunks.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include "test/support.hpp"

namespace {

using fj::detail::sharing_trial;
namespace tuning = fj::detail::tuning;

constexpr std::uint32_t of_trial = 2 * tuning::windows_of_way * tuning::loops_of_window;

// Runs so many loops of `elements`; times(shares, i) is the time of loop i.
template <class Times>
void run(sharing_trial& trial, std::uint32_t loops, Times times, std::size_t elements = 1000) {
  for (std::uint32_t i = 0; i < loops; ++i) trial.note(elements, times(trial.shares(), i));
}

}  // namespace

// Tried with `>` in place of `<` in the comparison: fails.
TEST_CASE("chunks: a body keeps the way that is quicker") {
  sharing_trial shared, alone;
  CHECK(shared.shares());  // the first loops are shared early
  run(shared, of_trial, [](bool shares, std::uint32_t) { return shares ? 30'000u : 50'000u; });
  CHECK(shared.shares());
  run(alone, of_trial, [](bool shares, std::uint32_t) { return shares ? 50'000u : 30'000u; });
  CHECK(!alone.shares());
  CHECK(alone.terms().worth_ns == tuning::late.worth_ns);
}

TEST_CASE("chunks: to share has to gain") {
  sharing_trial trial;
  run(trial, of_trial, [](bool shares, std::uint32_t) { return shares ? 29'500u : 30'000u; });
  CHECK(!trial.shares());
}

// The system takes the processor away for 0.4 ms in the second window of the quicker way. Tried with a way's last
// window in place of its best: fails.
TEST_CASE("chunks: one disturbed window does not decide") {
  sharing_trial trial;
  run(trial, of_trial, [](bool shares, std::uint32_t i) { return i == 20 ? 400'000u : shares ? 20'000u : 40'000u; });
  CHECK(trial.shares());
}

// The first loops of a window find their data where the other way left it. Tried with one loop less to settle: fails.
TEST_CASE("chunks: the first loops of a window do not count") {
  sharing_trial trial;
  run(trial, of_trial, [](bool shares, std::uint32_t i) {
    if (i % tuning::loops_of_window < 2) return shares ? 200'000u : 1'000u;
    return shares ? 20'000u : 40'000u;
  });
  CHECK(trial.shares());
}

TEST_CASE("chunks: a body whose loops change finds that out at the next trial") {
  sharing_trial trial;
  run(trial, tuning::loops_late_at_first, [](bool shares, std::uint32_t) { return shares ? 50'000u : 30'000u; });
  CHECK(trial.shares());  // the next trial begins
  run(trial, of_trial, [](bool shares, std::uint32_t) { return shares ? 20'000u : 40'000u; });
  CHECK(trial.shares());
  run(trial, tuning::loops_kept - of_trial, [](bool shares, std::uint32_t) {
    CHECK(shares);
    return 20'000u;
  });
}

// Another program takes the other processor again and again, but not during the trial: each loop that meets it takes a
// millisecond, which is too long for a trial to count. Tried without `watch`, and with `took_ns` in place of the time
// alone: fails.
TEST_CASE("chunks: to share ends where the other processor is taken away often") {
  sharing_trial trial;
  run(trial, of_trial, [](bool shares, std::uint32_t) { return shares ? 20'000u : 30'000u; });
  CHECK(trial.shares());
  run(trial, tuning::loops_watched, [](bool, std::uint32_t i) { return i % 16 == 0 ? 1'000'000u : 20'000u; });
  CHECK(!trial.shares());
  run(trial, tuning::loops_late_at_first - of_trial - tuning::loops_watched, [](bool shares, std::uint32_t) {
    CHECK(!shares);
    return 30'000u;
  });
  CHECK(trial.shares());  // the next trial
}

// The system took a processor away for the whole trial. Tried without the next trial being so soon: fails. Where it is
// late each time, trials become rare: tried without the doubling, fails.
TEST_CASE("chunks: where late has won the next trial is soon, and each one after that later") {
  static_assert(4 * tuning::loops_late_at_first <= tuning::loops_kept);
  sharing_trial trial;
  const auto late = [](bool shares, std::uint32_t) { return shares ? 50'000u : 30'000u; };
  for (std::uint32_t kept = tuning::loops_late_at_first; kept <= tuning::loops_kept; kept *= 2) {
    CHECK(trial.shares());
    run(trial, of_trial, late);
    run(trial, kept - of_trial, [](bool shares, std::uint32_t) {
      CHECK(!shares);
      return 30'000u;
    });
  }
  run(trial, of_trial, late);
  run(trial, tuning::loops_kept - of_trial, late);
  CHECK(trial.shares());
  run(trial, of_trial, [](bool shares, std::uint32_t) { return shares ? 20'000u : 40'000u; });
  run(trial, tuning::loops_kept - of_trial, [](bool shares, std::uint32_t) {
    CHECK(shares);
    return 20'000u;
  });
}

// Tried with a window that is slow once always ending in late: fails.
TEST_CASE("chunks: what held for long is tried again when it holds no more") {
  sharing_trial trial;
  run(trial, of_trial + tuning::loops_in_doubt, [](bool shares, std::uint32_t) { return shares ? 20'000u : 30'000u; });
  run(trial, tuning::loops_watched, [](bool, std::uint32_t i) { return i == 3 ? 2'000'000u : 20'000u; });
  CHECK(trial.shares());
  run(trial, of_trial, [](bool shares, std::uint32_t) { return shares ? 20'000u : 30'000u; });
  CHECK(trial.shares());
}

// Tried with loops shared at once from the first on: fails.
TEST_CASE("chunks: loops are shared from their begin on where those before were long, and early wins") {
  sharing_trial trial;
  CHECK(!trial.shares_at_once());
  run(trial, tuning::loops_to_settle, [](bool, std::uint32_t) { return 20'000u; });
  CHECK(trial.shares_at_once());
  run(trial, of_trial - tuning::loops_to_settle, [&](bool shares, std::uint32_t) {
    CHECK(trial.shares_at_once() == shares);
    return shares ? 20'000u : 30'000u;
  });
  CHECK(trial.shares_at_once());
  trial.begin_again();
  CHECK(!trial.shares_at_once());
}

// Tried with one trial for all lengths: fails.
TEST_CASE("chunks: loops of other lengths have trials of their own") {
  fj::detail::pace known;
  run(known.trial_of(1000), of_trial, [](bool shares, std::uint32_t) { return shares ? 50'000u : 30'000u; });
  CHECK(!known.trial_of(1023).shares());
  CHECK(known.trial_of(2000).shares());
  CHECK(known.trial_of(500).shares());
}

// Tried with windows of 2 loops: fails.
TEST_CASE("chunks: a moment without the other processor does not end that loops are shared") {
  sharing_trial trial;
  run(trial, of_trial, [](bool shares, std::uint32_t) { return shares ? 20'000u : 30'000u; });
  run(trial, 10 * tuning::loops_watched, [](bool, std::uint32_t i) { return i % 32 == 7 ? 120'000u : 20'000u; });
  CHECK(trial.shares());
}

TEST_CASE("chunks: the time of an element counts, whatever the lengths of the loops") {
  sharing_trial trial;
  for (std::uint32_t i = 0; i < of_trial; ++i) {
    const std::size_t elements = trial.shares() ? 1000 : 100;
    trial.note(elements, elements * (trial.shares() ? 20 : 40));
  }
  CHECK(trial.shares());
}
