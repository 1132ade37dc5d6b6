// Strands of the model: each has a stack, leaves it on one thread and goes on with it on another, as the runtime's
// fibers do. So the runtime's protocols for strands run here as they are written.
#pragma once

#include <cstring>
#include <memory>

#include "test/model/scenario.hpp"

#include "forkjoin/abi/join.hpp"
#include "runtime/strand/hooks.hpp"

namespace model {

/// A stack, kept from one interleaving to the next: Relacy never frees one.
class strand_stack {
 public:
  strand_stack() = default;
  strand_stack(const strand_stack&) = delete;
  strand_stack& operator=(const strand_stack&) = delete;

  /// The next switch to it calls body(argument), which does not return. What ran on it before is forgotten.
  void begin(void (*body)(void*), void* argument) {
    body_ = body;
    argument_ = argument;
    if (!exists_) {
      create_fiber(context_, &run, this);
      std::memcpy(&fresh_, &context_.jmp, sizeof fresh_);
      exists_ = true;
    }
    std::memcpy(&context_.jmp, &fresh_, sizeof fresh_);
  }

  [[gnu::noinline]] void switch_from(fiber_t& native) { switch_to_fiber(context_, native); }
  [[gnu::noinline]] void switch_to(fiber_t& native) { switch_to_fiber(native, context_); }

 private:
  static void run(void* self) {
    auto& s = *static_cast<strand_stack*>(self);
    s.body_(s.argument_);
  }

  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  fiber_t context_;
  jmp_buf fresh_;
  bool exists_ = false;
};

struct strand : fj::detail::join_waiter {
  plain<int> saved{0};        ///< what lies on its stack while it does not run: 1; else 2
  os::atomic<int> posted{0};  ///< for the workers: it may run
  strand_stack* stack = nullptr;
  bool exists = false;  ///< known outside of the model's memory
};

/// A thread of the model, on its own stack or on a strand's.
struct strand_worker {
  using afterwards = strand* (*)(strand_worker&, strand&, void*) noexcept;

  fiber_t native;
  strand* running = nullptr;
  afterwards then = nullptr;
  void* argument = nullptr;
};

}  // namespace model

namespace fj { inline namespace v0_4 { namespace detail {

/// In place of runtime/strand/hooks.hpp.
struct strand_hooks {
  using fiber = model::strand;
  using worker = model::strand_worker;

  static bool may_leave() { return model::any_of(4) != 0; }
  static void arrive_on_worker() {}
  static void suspend(worker::afterwards then, void* argument);
  [[noreturn]] static void end_strand(fiber* next);
  static void resume(fiber& waits);
};

static_assert(hooks_for_strands<strand_hooks>);

}}}  // namespace fj::v0_4::detail

namespace model {

using fj::detail::strand_hooks;

/// Workers that run what is posted, until nothing is left that could run.
class strands_scenario : public scenario {
 public:
  strands_scenario() { here_ = this; }

 protected:
  static constexpr unsigned most_strands = 12;

  /// Begins a strand, which ends by end_strand. The caller executes it or posts it.
  template <class Body>
  strand& begin(Body& body) {
    unsigned i = 0;
    while (i < most_strands && strands_[i].exists) ++i;
    check(i < most_strands, "the model has strands enough");
    strand& s = strands_[i];
    s.exists = true;
    s.stack = &stacks_[i];
    s.stack->begin([](void* called) { (*static_cast<Body*>(called))(); }, &body);
    std::destroy_at(&s.saved);  // whose strand it was before orders nothing
    std::construct_at(&s.saved, 1);
    return s;
  }

  void post(strand& s) {
    ++unfinished_;
    // release: pairs with the acquire in work
    check(s.posted.exchange(1, std::memory_order_release) == 0, "a strand is made runnable once");
  }

  /// Runs a strand, and what follows from it. On the thread's own stack.
  void execute(strand* next) {
    strand_worker& m = current();
    ++unfinished_;
    while (next) {
      check(next->saved == 1, "the context was saved, and the strand is resumed once");
      next->saved = 2;
      m.running = next;
      next->stack->switch_from(m.native);
      strand& left = *m.running;
      left.saved = 1;
      next = m.then(m, left, m.argument);
      if (next == &left) did_not_wait();
    }
    --unfinished_;
  }

  void run_posted() {
    for (unsigned i = 0; i < most_strands; ++i) {
      if (!strands_[i].exists) continue;
      int found = 1;
      if (!strands_[i].posted.load(std::memory_order_relaxed) ||
          !strands_[i].posted.compare_exchange_strong(found, 0, std::memory_order_acquire, std::memory_order_relaxed))
        continue;
      execute(&strands_[i]);
      --unfinished_;  // the post
    }
  }

  void work() {
    while (unfinished_ != 0) {
      run_posted();
      pause();
    }
  }

  strand& current_strand() { return *current().running; }

  /// A worker has learned that what its strand would wait for was there.
  virtual void did_not_wait() {}

  // Known outside of the model's memory: posted, or executed, or a thread that may still post.
  unsigned unfinished_ = 0;

 private:
  friend strand_hooks;

  // On the worker's native stack.
  static strand* ended(strand_worker&, strand& s, void* next) noexcept {
    s.exists = false;
    return static_cast<strand*>(next);
  }

  strand_worker& current() { return workers_[rl::thread_index()]; }

  static inline strands_scenario* here_ = nullptr;
  static inline strand_stack stacks_[most_strands];
  strand strands_[most_strands];
  strand_worker workers_[threads];
};

}  // namespace model

inline void fj::detail::strand_hooks::suspend(worker::afterwards then, void* argument) {
  worker& m = model::strands_scenario::here_->current();
  m.then = then;
  m.argument = argument;
  m.running->stack->switch_to(m.native);
}

inline void fj::detail::strand_hooks::end_strand(fiber* next) {
  suspend(&model::strands_scenario::ended, next);
  __builtin_unreachable();
}

inline void fj::detail::strand_hooks::resume(fiber& waits) { model::strands_scenario::here_->post(waits); }
