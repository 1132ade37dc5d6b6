// What the scenarios of parking_model.cpp differ in, and their timers.
#pragma once

#include "test/model/scheduler.hpp"

namespace model {

enum class role {
  absent,
  owner,          ///< a worker on which a strand has begun
  caller,         ///< a thread that brings a job and sleeps until it is over
  resting,        ///< a caller whose job has all its work on a runner
  runner,         ///< a worker on which a strand of that job has begun, once the caller sleeps
  visitor,        ///< a caller whose job does nothing
  leaver,         ///< a caller that holds a P, has nothing to do, and gives it up
  waker,          ///< no worker: makes fibers ready
  leaving_waker,  ///< a caller that gives up its P, and then makes fibers ready
  talker,   ///< a worker with a strand that makes fibers ready, of the caller's job if there is one, and works for ever
  worker,   ///< has work, looks for work, or sleeps
  sleeper,  ///< sleeps
  unstarted,  ///< a thread that the runtime may start, or is refused
  wanderer,   ///< a worker on which a fiber has begun that forks, and then waits for something else than its forks
  resumer,    ///< no worker: makes that fiber ready
  timed,      ///< a worker whose strands arm timers, each earlier than those before; then it works for ever, or parks
  timed_leaver,  ///< a caller that gives up a P with timers
  polling,  ///< as timed, and a strand opens the poller and waits there; `endless`: how many timers there are at most
  yielder,  ///< a caller whose job lets others run first, a few times
  resizer   ///< no worker: fewer P are in use, and perhaps as many as before again
};

/// What is told apart: what the threads do; how many P there are; how many forks of a strand come to an end, one after
/// another, and how many do not: some of these come before them, the others after. `brief`: whether what is stolen
/// comes to an end, and with it the job. `at_once`: whether a wanderer always goes on with the fiber that has just
/// left, which then works for ever. `late`: whether a leaver waits until the forks of an owner that come to an end
/// have. `quiet`: whether owners fork as small loops do.
struct setting {
  role roles[threads];
  unsigned procs = 2;
  unsigned ending = 2;
  unsigned endless = 1;
  bool eager = false;
  bool brief = false;
  bool at_once = false;
  bool late = false;
  bool quiet = false;
};

constexpr unsigned count(const setting& in, role wanted) {
  unsigned found = 0;
  for (const role r : in.roles) found += r == wanted;
  return found;
}

/// Due so late that no thread fires it.
struct late_timer final : fj::detail::timer {
  explicit late_timer(unsigned i) : fj::detail::timer((i + 1) * 1'000'000'000'000'000) {}
  bool claim_wait() noexcept override { return false; }
  void wake(fj::detail::precedence) noexcept override {}
};

}  // namespace model
