#include "forkjoin/abi/fork_loop.hpp"

#include <cstdint>
#include <cstring>
#include <memory>

#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/sched/owner.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/strand/hooks.hpp"
#include "runtime/strand/loop_protocol.hpp"
#include "runtime/strand/slow_paths.hpp"
#include "runtime/strand/until_stolen.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// What a thief pushes for the rest of the loop.
struct loop_stand_in : record_stand_in {
  explicit loop_stand_in(loop_rest& rest) noexcept { stands_for = &rest; }
  ~loop_stand_in() {}

  union {
    join until_stolen;  ///< with steal_every_fork: where this thief waits for the next
  };
};

// With steal_every_fork, as the thief that offered the rest waits at its pop. Aligned as go_on_with_loop is.
[[gnu::aligned(16)]] outcome tell_thief_and_go_on(continuation& self) noexcept {
  tell_of_theft(*static_cast<loop_rest&>(self).until_stolen);
  return go_on_with_loop(self);
}

void start_stolen_iteration_slow(loop_rest& rest, loop_stand_in& offered) noexcept {
  offer_until_stolen(rest, &tell_thief_and_go_on, offered.until_stolen, rest.until_stolen);
  push_slow();
}

bool finish_stolen_iteration_slow(loop_stand_in& offered) noexcept {
  if (pop_slow(offered)) return true;
  if (steals_every_fork()) join_slow(offered.until_stolen);
  return false;
}

struct loop_steps {
  using loop_stand_in = detail::loop_stand_in;

  static fiber& running() noexcept { return *current_fiber(); }
  static void offer(loop_rest& rest, loop_stand_in& offered) noexcept {
    if (push_record(offered)) start_stolen_iteration_slow(rest, offered);
  }
  static void count_wait() noexcept { ++current_worker()->count().join_waits; }
  static bool take_back(loop_stand_in& offered) noexcept {
    return pop_record(offered) || finish_stolen_iteration_slow(offered);
  }
};

using protocol = loop_protocol<loop_steps>;

// The virtual table of the loop's class, whose name says where the loop stands. It is the first word of an object.
std::uint64_t table_of(const fork_loop& loop) noexcept {
  std::uintptr_t table = 0;
  const os::unseen_by_detector pause;
  std::memcpy(&table, static_cast<const void*>(&loop), sizeof table);
  return table;
}

}  // namespace

outcome go_on_with_loop(continuation& self) noexcept {
  auto& rest = static_cast<loop_rest&>(self);
  fork_loop& loop = rest.of;
  emit_event(*current_worker(), event::loop, table_of(loop), 0, current_fiber()->number);
  const std::size_t iterations = protocol::go_on_with(rest);
  os::end_handlers(*current_worker()->exceptions);
  protocol::end_thief(loop, iterations);
}

bool is_loop_rest(const continuation& record) noexcept {
  const os::unseen_by_detector pause;
  const continuation_body body = record.joined.body();
  return body == &go_on_with_loop || body == &tell_thief_and_go_on;
}

void join_loop_slow(fork_loop& loop) noexcept {
  protocol::join_from(loop, loop.rest.next);
  deque& d = current_deque();
  if (d.is_at_rest()) {
    owner_steps::after_stolen_join(d);
  } else {
    d.open(d.whose());  // with steal_every_fork the rest is still the newest
  }
}

void run_as_stolen(fork_loop& loop) noexcept { protocol::run_as_stolen(loop); }

}}}  // namespace fj::v0_4::detail
