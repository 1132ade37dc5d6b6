// How the scheduler's slow paths tell a trace what they do. While none is written, an event is a load and a branch.
//
// The model checks and the simulator compile the same rules, with an emit that does nothing.
#pragma once

#include <cstdint>

#include "runtime/trace/format.hpp"

#ifndef FORKJOIN_MACHINE

#include "runtime/os/probe.hpp"
#include "runtime/trace/ring.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// By the worker itself.
template <class Worker>
[[gnu::always_inline]] inline void emit_event(const Worker& m, event what, std::uint64_t a = 0, std::uint64_t b = 0,
                                              std::uint32_t fiber = 0) noexcept {
  [[maybe_unused]] const unsigned proc = m.proc ? m.proc->index : no_proc;
  FORKJOIN_PROBE_EVENT(static_cast<unsigned>(what), proc, fiber, a, b);
  if (trace_ring* const ring = m.trace) [[unlikely]]
    ring->add(what, proc, fiber, a, b);
}

/// A record was stolen: from that P, or from the ready queue.
template <class Worker, class Processor>
[[gnu::always_inline]] inline void emit_steal(const Worker& m, const Processor& victim, const void* record) noexcept {
  emit_event(m, event::steal, victim.index, reinterpret_cast<std::uintptr_t>(record));
}
template <class Worker>
[[gnu::always_inline]] inline void emit_steal(const Worker& m, const void* record) noexcept {
  emit_event(m, event::steal, no_proc, reinterpret_cast<std::uintptr_t>(record));
}

/// Fibers came from that P's queue, the first of them `f`, if any.
template <class Worker, class Processor, class Fiber>
[[gnu::always_inline]] inline void emit_take(const Worker& m, const Processor& victim, const Fiber* f) noexcept {
  if (f) emit_event(m, event::take, victim.index, 0, f->number);
}

/// Of which P a thief's round saw records that are all private, if of any.
class private_sight {
 public:
  void see(const auto& victim) noexcept { proc_ = victim.index; }

  /// After a round that got nothing; `before`: what the round before it saw.
  template <class Worker>
  void emit_change(const Worker& m, private_sight& before) const noexcept {
    if ((proc_ == no_proc) != (before.proc_ == no_proc)) emit_event(m, event::sees_private, proc_);
    before = *this;
  }

 private:
  unsigned proc_ = no_proc;
};

struct fiber;
struct processor;
struct worker;

// By any thread.

void emit_idle(const processor& p) noexcept;
void emit_wake(const processor& p, const worker& woken) noexcept;
void emit_retake(const processor& p, const fiber& strand) noexcept;

}}}  // namespace fj::v0_4::detail

#else

namespace fj { inline namespace v0_4 { namespace detail {

void emit_event(const auto&...) noexcept {}
void emit_steal(const auto&...) noexcept {}
void emit_take(const auto&...) noexcept {}
struct private_sight {
  void see(const auto&) noexcept {}
  void emit_change(const auto&...) const noexcept {}
};
void emit_wake(const auto&...) noexcept {}
void emit_retake(const auto&...) noexcept {}

}}}  // namespace fj::v0_4::detail

#endif
