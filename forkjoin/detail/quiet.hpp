// A fork that asks for no thief.
#pragma once

#include "forkjoin/abi/loop.hpp"
#include "forkjoin/abi/os/clock.hpp"
#include "forkjoin/abi/run.hpp"
#include "forkjoin/detail/branch.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/policies.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Joins a record that was not private any longer when f was done. False if it is left to the caller after all.
template <class G, class Join>
[[gnu::cold, gnu::noinline]] bool join_if_stolen(branch<G, Join>& rest) {
  if (detail::pop_slow(rest)) return false;
  detail::wait_for<Join>(rest);
  static_cast<void>(rest.take());
  return true;
}

/// Calls f(), while a thief may call g(). True if one did, and it is done; false if g is left to the caller. Asks for
/// no thief as long as a worker looks for work: that worker finds the record if f takes long. So f costs no more for
/// that worker. For parts of loops.
template <class F, class G>
[[gnu::always_inline]] inline bool fork_quietly(F f, G g) {
  progress_of(current_deque()).make();
  branch<G&, leave_stack> rest(g);
  join_on_throw<G&, leave_stack> on_throw{rest};
  if (detail::push_record(rest) && !detail::is_watched(rest)) {
    static_cast<void>(detail::start_slow<continuations, F&>(f, rest));
  } else {
    f();
  }
  on_throw.armed = false;
  return !detail::pop_record(rest) && detail::join_if_stolen(rest);
}

/// Answers whoever asks the calling strand for something, as any fork does: before a part that is to be timed, as it
/// may take long to wake a worker.
inline void answer() noexcept {
  if (!face_of(current_deque()).asks_nothing()) static_cast<void>(detail::fork_quietly([] {}, [] {}));
}

/// Says that the calling strand begins a part of a loop that is expected to be brief, and that it will not fork. False,
/// and nothing said, if a worker asks for something: then the strand forks, and answers. Also outside any runtime.
[[gnu::always_inline]] inline bool begin_brief_part() noexcept {
  deque& d = current_deque();
  if (!face_of(d).asks_nothing()) return false;
  progress_of(d).make();
  return true;
}

/// Says that the calling strand begins a part of a loop, and that it will not fork.
inline void begin_part() noexcept { progress_of(current_deque()).make(); }

/// Whether a fork would wake a worker, for that fork alone. Inside only.
inline bool fork_wakes_worker() noexcept { return !face_of(current_deque()).asks_nothing() && detail::wakes_worker(); }

/// Whether a thief has found that the calling strand stayed in its latest part of a loop for long. True once for each
/// part.
[[gnu::always_inline]] inline bool was_slow() noexcept { return progress_of(current_deque()).was_slow(); }

/// After was_slow: for how many nanoseconds, at the least.
inline std::int64_t slow_for() noexcept { return progress_of(current_deque()).slow_for(os::now_ns()); }

}}}  // namespace fj::v0_4::detail
