// Which calls from outside are expected to be over soon after they wake a worker, by times of the test's own.
#include "runtime/sched/caller_pace.hpp"

#include <doctest/doctest.h>

namespace {

namespace tuning = fj::detail::tuning;

constexpr std::int64_t began = 1'000'000;

// Whether the call was expected to be brief.
bool call(fj::detail::caller_pace& calls, std::int64_t ns) {
  const bool expected = calls.wakes(began);
  CHECK(calls.has_woken());
  calls.ends(began + ns);
  CHECK_FALSE(calls.has_woken());
  return expected;
}

}  // namespace

TEST_CASE("a caller's calls are expected to be as brief as its last one") {
  fj::detail::caller_pace calls;
  CHECK_FALSE(calls.has_woken());
  CHECK_FALSE(call(calls, tuning::brief_call_ns));
  CHECK(call(calls, tuning::brief_call_ns + 1));
  CHECK_FALSE(call(calls, tuning::brief_call_ns));
  CHECK(call(calls, 0));
}

TEST_CASE("a call lasts from the first worker that it wakes, and is not brief once it has lasted") {
  fj::detail::caller_pace calls;
  call(calls, 0);
  CHECK(calls.wakes(began));
  CHECK(calls.wakes(began + tuning::brief_call_ns));
  CHECK_FALSE(calls.wakes(began + tuning::brief_call_ns + 1));
  calls.ends(began + tuning::brief_call_ns + 1);
  CHECK_FALSE(calls.wakes(began));
}

TEST_CASE("one of many long calls is tried as a brief one, whichever workers it wakes") {
  fj::detail::caller_pace calls;
  for (int round = 0; round < 3; ++round) {
    for (unsigned i = 1; i < tuning::long_calls_for_a_try; ++i) {
      CHECK_FALSE(calls.wakes(began));
      CHECK_FALSE(calls.wakes(began + 1));
      calls.ends(began + 2 * tuning::brief_call_ns);
    }
    CHECK(calls.wakes(began));
    CHECK(calls.wakes(began + 1));
    calls.ends(began + 2 * tuning::brief_call_ns);
  }
}
