// A scope in the serial build: forks are calls.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/serial/run.hpp"
#include "forkjoin/stop.hpp"

namespace fj::inline v0_1 {

/// As the parallel build's; a child's exception always leaves fork.
class [[nodiscard("a scope joins when it is destroyed")]] scope {
 public:
  scope() { must_be_inside(); }
  explicit scope(stop_token stop) : stop_(std::move(stop)) { must_be_inside(); }
  explicit scope(scope& outer) : scope(outer.stop_) {}
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  ~scope() noexcept(false) {
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
    std::decay_t<F> closure(std::forward<F>(f));
    static_cast<void>(closure());
  }

  [[nodiscard]] bool stopped() const noexcept { return stop_.stop_requested(); }

  void join() {
    if (std::exchange(left_out_, false)) throw cancelled();
  }

 private:
  template <class Body>
  friend std::invoke_result_t<Body&, scope&> with_scope(stop_token stop, Body&& body);

  static void must_be_inside() {
    if (this_proc() < 0) detail::scope_outside();
  }

  void join_after_throw() noexcept { left_out_ = false; }  // the body's exception is the first one

  bool left_out_ = false;
  const int uncaught_ = std::uncaught_exceptions();
  stop_token stop_;
};

}  // namespace fj::inline v0_1
