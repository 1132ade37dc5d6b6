#include "forkjoin/abi/scope.hpp"

#include <cstdlib>
#include <utility>

#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/strand/child_protocol.hpp"
#include "runtime/strand/hooks.hpp"
#include "runtime/strand/slow_paths.hpp"
#include "runtime/strand/until_stolen.hpp"
#include "runtime/strand/wait_at_join.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

fiber& strand_of(continuation& rest) noexcept { return static_cast<fiber&>(rest); }

// Runs on the thief's stack, which is free after that.
[[noreturn]] void return_to(fiber& parent) noexcept {
  worker& m = *current_worker();
  fiber& thief = *current_fiber();
  os::end_handlers(*m.exceptions);  // the parent keeps its own exceptions
  // The thief's stack must not be given to others before the strand leaves it. Nothing else runs on this thread until
  // then.
  emit_line(m, *parent.below);
  emit_event(m, event::parent, parent.below->number + std::uint64_t{1}, thief.number + std::uint64_t{1}, parent.number);
  thief.begun = false;
  thief.becomes_at_fork(fiber_state::free);
  release_stacks(m, tuning::stacks_at_hand - 1);
  m.proc->stacks.push(thief);
  parent.below = nullptr;  // the child has that stack
  parent.becomes_at_fork(fiber_state::running);
  job* const whose = thief.whose;
  parent.whose = whose;
  current_deque().open(whose);
  set_current_fiber(&parent);
  os::happens_before(&m.sched());  // as in end_strand
  os::return_to(thief.context, parent.context, static_cast<std::uintptr_t>(fork_end::stolen));
}

// With steal_every_fork, as the child waits at its end. Aligned as go_on_with_parent is.
[[gnu::aligned(16)]] outcome tell_child_and_go_on(continuation& self) noexcept {
  tell_of_theft(*strand_of(self).below->until_stolen);
  return_to(strand_of(self));
}

}  // namespace

outcome go_on_with_parent(continuation& self) noexcept { return_to(strand_of(self)); }

bool prepare_below(worker& m, fiber& f) noexcept {
  if (!prepare_stack(m)) return false;
  fiber& below = m.proc->stacks.pop();
  os::happens_after(&below);                // made by another strand, perhaps
  os::happens_after(below.stack_bottom());  // its contents are not used any more
  f.joined.call_instead(&go_on_with_parent);
  below.as_child.stands_for = &f;
  f.below = &below;
  return true;
}

below_put_aside::~below_put_aside() {
  release_below(*current_worker(), fiber_);  // if the fiber forked meanwhile, it has another stack below
  fiber_.below = &below_;
}

bool is_parent(const continuation& record) noexcept {
  const os::unseen_by_detector pause;
  const continuation_body body = record.joined.body();
  return body == &go_on_with_parent || body == &tell_child_and_go_on;
}

void go_on_as_thief(children& scope) noexcept {
  scope.note(children::was_stolen);
  child_protocol::go_on_as_thief(scope);
}

namespace {

// Runs on the child's stack. If a thief takes the parent's continuation, the child does not come back here.
std::uintptr_t run_handling(void* self) {
  const child& c = *static_cast<child*>(self);
  return os::call_handling(c.handled, [&] {
    current_deque().set_exceptions(current_worker()->exceptions);
    const std::uintptr_t end = c.body(self);
    current_deque().hide_exceptions(os::between_handlers);
    return end;
  });
}

}  // namespace

fork_end call_child_slow(child& c, os::stack_call body) noexcept {
  worker& m = *current_worker();
  fiber& here = *current_fiber();
  children& scope = c.scope;  // the child may be gone when the parent goes on
  const bool is_task = !scope.home, at_home = &here == scope.home;
  if (!at_home && !is_task) scope.note(children::is_watched);
  fork_end end{};
  const auto fork = [&] {
    // The parent keeps its exceptions, on any thread; the child handles the same one.
    c.handled = os::handled_exception(*m.exceptions);
    if (c.handled) {
      c.body = std::exchange(body, &run_handling);
      current_deque().hide_exceptions(os::between_handlers);
    }
    const os::exception_globals exceptions = os::exchange_exceptions(*m.exceptions, {});
    fiber& below = *here.below;
    end = call_child(here, below, c, body);
    back_from_child(here, below, end);
    if (end == fork_end::stolen) arrive_on_worker();
    os::exchange_exceptions(*current_worker()->exceptions, exceptions);
    current_deque().set_exceptions(current_worker()->exceptions);
    return end == fork_end::stolen;
  };
  is_task ? static_cast<void>(fork()) : child_protocol::fork_child(scope, here, fork);
  if (at_home && end == fork_end::stolen) scope.note(children::was_stolen);
  return end;
}

void begin_on_own_stack(children& scope) noexcept {
  scope.note(children::is_watched);
  scope.joined.fork_elsewhere();
}

void end_on_own_stack(children& scope) noexcept { child_protocol::arrive_for_child(scope); }

void start_child_slow(child& c) noexcept {
  fiber& here = *current_fiber();
  offer_until_stolen(static_cast<fiber&>(*here.as_child.stands_for), &tell_child_and_go_on, c.until_stolen,
                     here.until_stolen);
  push_slow();
}

bool finish_child_slow(child& c) noexcept {
  if (pop_slow(current_fiber()->as_child)) return true;
  if (steals_every_fork()) join_slow(c.until_stolen);
  return false;
}

void end_stolen_child(child& c, os::stack_call body) noexcept {
  os::end_handlers(*current_worker()->exceptions);
  // While its parent is sure to be there.
  emit_line(*current_worker(), *current_fiber(), reinterpret_cast<std::uintptr_t>(body));
  if (!c.scope.home) {
    auto& group = static_cast<group_children&>(c.scope);
    group.task_ended(group);
    end_strand(nullptr);
  }
  child_protocol::end_stolen_child(c.scope);
}

bool is_of_this_runtime(const children& scope) noexcept {
  return scope.home->pool->is_of_same_runtime(*current_fiber()->pool);
}

void leave_to_others_slow(join& of_child) noexcept {
  if (!of_child.finished()) ++current_worker()->count().join_waits;
  wait_until_finished(of_child);
}

bool count_wait(children& scope) noexcept {
  if (scope.joined.all_arrived()) return false;
  ++current_worker()->count().join_waits;
  return true;
}

void join_children_slow(children& scope) noexcept {
  if (current_fiber() == scope.home) count_wait(scope);
  finish_join(scope);
}

void finish_join(children& scope) noexcept {
  if (current_fiber() != scope.home) {
    // To wait here would be in vain: the children resume the strand that made the scope.
    os::print_error(
        "forkjoin: a fj::scope that has children was destroyed by another strand than the one that made it; destroy it "
        "in the function that made it, or join it there first.\n");
    std::abort();
  }
  wait_for_all(scope.joined);
}

}}}  // namespace fj::v0_4::detail
