// What the owner of a deque does on the slow paths of a fork: how it answers a request, and which records it makes
// public.
#pragma once

#include <cstdint>

#include "runtime/base/tuning.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct owner_steps {
  /// After a push that found a request. `handled`: the exception that the owner handles, or nullptr.
  static void answer_request(worker& m, deque& d, void* handled) noexcept {
    ++m.count().slow_pushes;
    d.attend();
    if (!d.has_capacity()) {
      d.forget();
      return;
    }
    auto& s = m.sched();
    const bool eager = s.settings().eager;
    // With one P no other worker takes anything, unless this strand leaves (deque::share_all). Then it matters what
    // the deque keeps.
    if (s.all().count() == 1 && !eager && !handled && !d.is_in_handler()) return;
    // The thief that sent the request may be busy again, but another will come: the oldest record shall be there for
    // it, and this may be the last push for a while.
    const bool asked = eager || s.dispatcher().hungry();
    if (!asked && !handled && d.has_public()) return;
    if (d.share(handled)) {
      if (!eager) m.shared_at = os::now_ns();
      ++m.count().publications;
      emit_event(m, event::publish, d.public_count());
      m.count().most_public.raise_to(d.public_count());
    }
    if (d.is_in_handler()) d.request();  // until a push finds that the handler is over
    if (asked) s.dispatcher().wake();
  }

  /// Completes a pop that did not find its record private. False: a thief has it.
  static bool take_back(worker& m, deque& d, const record& r) noexcept {
    if (!d.pop_slow(r)) return false;
    ++m.count().slow_pops;
    // The next fork shall be public at once if a thief waits for it. If not, it shall cost next to nothing.
    if (m.sched().dispatcher().hungry() || was_public_for_long(m)) d.request();
    return true;
  }

  /// After a join whose record was stolen: its thief is done, and looks for the next record soon; a strand may fork a
  /// few times at once and then no more for a while.
  static void after_stolen_join(deque& d) noexcept { d.request(); }

  /// After a quiet push that found a request which no worker has marked as watched: whether a worker looks for work all
  /// the same, and will find the record.
  // Only the light fence of push comes between the push and this look. A worker that gives up looking says so, and
  // fences all threads before it looks at the deques for the last time (parking.hpp: nothing_left): so either it sees
  // the record, or this thread sees that it gave up.
  static bool is_watched_by_any(worker& m, const deque& d, const record& newest) noexcept {
    auto& s = m.sched();
    return s.dispatcher().any_spinning() && !s.settings().eager && !s.settings().steal_every_fork && d.has_capacity() &&
           !d.is_in_handler() && d.is_only_private(newest);
  }

 private:
  static bool was_public_for_long(const worker& m) noexcept {
    return !m.sched().settings().eager && os::now_ns() - m.shared_at > tuning::long_public_ns;
  }
};

}}}  // namespace fj::v0_4::detail
