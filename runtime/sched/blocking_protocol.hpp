// What happens to the P of a strand while the strand is in a call that may block its thread.
//
// Source: entersyscall, exitsyscall and entersyscallblock in Go's runtime/proc.go.
#pragma once

#include "runtime/sched/scheduler.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct blocking_protocol {
  /// Before a call of the strand that has this deque: thieves may take its records meanwhile. Whether others may take
  /// the P.
  static bool prepare(worker& m, deque& records, void* handled) noexcept {
    // The next strand of the P needs an empty deque.
    const bool may_lose = records.looks_empty() || scheduler_hooks::prepare_to_wait(m);
    if (records.has_private() && records.share_all(handled)) {
      ++m.count().publications;
      emit_event(m, event::publish, records.public_count());
    }
    return may_lose;
  }

  /// The call begins: m has no P any more. `at_once`: it is given up now. Else the monitor takes it if the call lasts.
  static begun_call begin(worker& m, fiber& f, bool may_lose, bool at_once) noexcept {
    processor& had = *m.proc.replace(nullptr);
    if (!may_lose) return {&had};
    const begun_call begun{&had, had.blocking.begin(f)};
    auto& shared = m.sched();
    const bool watched = shared.monitor().watch();
    // Without a monitor no thread would come for the P later. A forked copy of the process has no threads at all.
    if ((watched && !at_once) || shared.is_forked_copy()) return begun;
    if (shared.dispatcher().retake(had, begun.number, waker::sleeps, watched) == retaken::no_thread)
      shared.count_refused_retakes(1);
    return begun;
  }

  /// The call is over. True: m has the P again, as if nothing had happened. Else the strand leaves its stack, and go_on
  /// follows.
  [[nodiscard]] static bool end(worker& m, const begun_call& over) noexcept {
    if (over.number != blocking_word::none && !over.had->blocking.end(over.number)) return false;
    m.proc = over.had;
    return true;
  }

  /// Once the strand has left: it goes on with an idle P, or is ready for other workers. Returns it or nullptr.
  static fiber* go_on(worker& m, fiber& f, processor& had) noexcept {
    auto& dispatcher = m.sched().dispatcher();
    if (dispatcher.take_processor(m, had)) {
      m.count().begin_busy(os::now_ns());
      emit_event(m, event::busy);
      return &f;
    }
    scheduler_hooks::make_runnable(f);
    dispatcher.ready(f, nullptr);
    return nullptr;
  }
};

}}}  // namespace fj::v0_4::detail
