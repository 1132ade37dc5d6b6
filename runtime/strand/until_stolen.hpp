// With options::steal_every_fork: how a strand that offers thieves the rest of another one, a scope's parent or a loop,
// waits until a thief has it. A strand that forks waits at its own join; such a rest ends elsewhere, so its thief tells
// the strand when it takes it.
#pragma once

#include <memory>

#include "runtime/sched/scheduler.hpp"
#include "runtime/strand/hooks.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

inline bool steals_every_fork() noexcept { return current_worker()->sched().settings().steal_every_fork; }

/// By the strand, after its push and before any thief can take the rest. The thief runs `tells` in place of the rest's
/// body; that calls tell_of_theft(*told_at), and then the body. The strand waits at `stolen`, a join in its frame, when
/// its pop has found the rest public.
inline void offer_until_stolen(continuation& rest, continuation_body tells, join& stolen, auto& told_at) noexcept {
  if (!steals_every_fork()) return;
  std::construct_at(&stolen, tells);
  told_at = &stolen;
  const os::unseen_by_detector pause;
  rest.joined.call_instead(tells);
}

/// By the thief.
inline void tell_of_theft(join& stolen) noexcept {
  if (join_waiter* const waiting = stolen.arrive(outcome::returned)) resume(*static_cast<fiber*>(waiting));
}

}}}  // namespace fj::v0_4::detail
