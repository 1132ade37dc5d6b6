// A scope in the serial build: forks are calls.
#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/policies.hpp"
#include "forkjoin/serial/observer.hpp"
#include "forkjoin/serial/run.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

struct scope_access;  // with_scope's

/// A closure as a child of a scope has it, for an observer: the strand moves it here, and the child calls and destroys
/// it.
template <class F>
class child_closure {
 public:
  template <class From>
  explicit child_closure(From&& from) : closure_(std::forward<From>(from)) {}
  ~child_closure() {}
  child_closure(const child_closure&) = delete;
  child_closure& operator=(const child_closure&) = delete;

  void operator()() {
    const struct destroyer {
      F& closure;
      ~destroyer() { std::destroy_at(std::addressof(closure)); }
    } at_end{closure_};
    static_cast<void>(closure_());
  }

 private:
  union {
    F closure_;
  };
};

}  // namespace detail

/// As the parallel build's; whatever the policy, forks are calls in the order of the program, and a child's exception
/// leaves fork.
template <detail::a_policy Policy>
class [[nodiscard("a scope joins when it is destroyed")]] basic_scope {
 public:
  basic_scope() { must_be_inside(); }
  explicit basic_scope(stop_token stop) : stop_(std::move(stop)) { must_be_inside(); }
  explicit basic_scope(basic_scope& outer) : basic_scope(outer.stop_) {}
  basic_scope(const basic_scope&) = delete;
  basic_scope& operator=(const basic_scope&) = delete;

  ~basic_scope() noexcept(false) {
    children_.join();
    if (left_out_ && std::uncaught_exceptions() == uncaught_) throw cancelled();
  }

  template <class F>
  void fork(F&& f) {
    static_assert(std::is_invocable_v<std::decay_t<F>&>,
                  "fj::scope::fork: the argument must be callable without arguments");
    if (stopped()) {
      left_out_ = true;
      return;
    }
    if constexpr (detail::is_observed) {
      children_.branch(detail::child_closure<std::decay_t<F>>(std::forward<F>(f)));
    } else {
      std::decay_t<F> closure(std::forward<F>(f));
      static_cast<void>(closure());
    }
  }

  [[nodiscard]] bool stopped() const noexcept { return stop_.stop_requested(); }

  void join() {
    children_.join();
    const bool left_out = left_out_;
    left_out_ = false;
    if (left_out) throw cancelled();
  }

  // oneTBB's names.
  template <class F>
  void run(F&& f) = delete;  // write s.fork(f)
  void wait() = delete;      // write s.join()

 private:
  friend struct detail::scope_access;

  static void must_be_inside() {
    if (this_proc() < 0) detail::scope_outside();
  }

  void join_after_throw() noexcept {
    children_.join();
    left_out_ = false;  // the body's exception is the first one
  }

  [[no_unique_address]] detail::fork_block children_{detail::block_kind::scope};
  detail::unseen<bool> left_out_ = false;  // also children write it that fork beside one another
  const int uncaught_ = std::uncaught_exceptions();
  stop_token stop_;
};

using scope = basic_scope<continuations>;

}}  // namespace fj::v0_4
