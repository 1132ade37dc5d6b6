// go starts a fiber; its future waits for the fiber's end and has its result.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/go_job.hpp"
#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/run.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "forkjoin/detail/deadline.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/go/wait_options.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

template <class F>
struct starter;

template <class F>
concept takes_stop_token = std::is_invocable_v<std::decay_t<F>&, stop_token>;

template <class F>
struct go_result {
  using type = std::invoke_result_t<std::decay_t<F>&>;
};
template <takes_stop_token F>
struct go_result<F> {
  using type = std::invoke_result_t<std::decay_t<F>&, stop_token>;
};

/// The result of a fiber, which its future takes.
template <class T>
struct go_state : go_job {
  using go_job::go_job;

  ~go_state() override {
    if (has_result) result.drop();
  }

  late_result<T> result;
  bool has_result = false;
};

template <class F>
class go_call final : public go_state<typename go_result<F>::type> {
 public:
  using result_type = typename go_result<F>::type;

  template <class G>
  explicit go_call(G&& f) : go_state<result_type>(&call_it, takes_stop_token<F>), f_(std::forward<G>(f)) {}
  ~go_call() override {
    if (!called_) std::destroy_at(std::addressof(f_));
  }

 private:
  static void call_it(job_body& self) noexcept {
    auto& mine = static_cast<go_call&>(self);
    mine.called_ = true;
    try {
      const destroyer destroy_after_call{mine};
      auto call = [&]() -> result_type {
        if constexpr (takes_stop_token<F>) {
          return std::invoke(mine.f_, mine.token());
        } else {
          return std::invoke(mine.f_);
        }
      };
      mine.result.store(call);
      mine.has_result = true;
    } catch (...) {
      mine.fail(caught_exception());
    }
  }

  struct destroyer {
    go_call& of;
    ~destroyer() { std::destroy_at(std::addressof(of.f_)); }
  };

  union {
    std::decay_t<F> f_;  // until it has been called
  };
  bool called_ = false;
};

/// What a promise and its future share.
template <class T>
class promise_state final : public go_state<T> {
 public:
  promise_state() : go_state<T>(nullptr, false) {}

  /// Stores the result of f, or what it throws.
  template <class F>
  void set(F f) noexcept {
    try {
      this->result.store(f);
      this->has_result = true;
    } catch (...) {
      this->fail(caught_exception());
    }
    this->complete();
  }

  void break_it(std::exception_ptr error) noexcept {
    this->fail(std::move(error));
    this->complete();
  }

  void add_owner() noexcept { this->share(); }
};

struct future_access;

}  // namespace detail

/// Waits for the end of a fiber that go started, and has its result. Move-only. Any strand or thread may wait, one at a
/// time. If the future is destroyed, the fiber still runs to its end. If the fiber throws, before or after that, and no
/// get has taken the exception, the process terminates with the exception's message: also while another exception
/// destroys the future. So if several fibers may throw, call get for each of them, and catch.
template <class T>
class [[nodiscard(
    "fj::go: a dropped future detaches its fiber; write auto f = fj::go(...), or static_cast<void>")]] future {
 public:
  future() noexcept = default;
  future(future&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  future& operator=(future&& other) noexcept {
    future(std::move(other)).swap(*this);
    return *this;
  }
  ~future() {
    if (state_) state_->drop();
  }
  void swap(future& other) noexcept { std::swap(state_, other.state_); }

  /// Whether there is a fiber whose result has not been taken: false after get, of a moved-from future and of a
  /// default-constructed one.
  bool valid() const noexcept { return state_; }

  /// Waits for the fiber, and returns its result or throws its exception. If a fiber waits, its worker does other work;
  /// a thread outside any runtime sleeps. Afterwards the future is not valid. Throws fj::cancelled if options.stop
  /// is asked to stop first, fj::timed_out if the time options.until comes first, and std::bad_alloc if there is no
  /// memory for the wait; in these cases the future has not changed. Throws std::logic_error if the future is not
  /// valid.
  T get(wait_options options = {}) {
    wait(options);
    const future taken(std::move(*this));
    if (std::exception_ptr error = taken.state_->take_error()) std::rethrow_exception(std::move(error));
    taken.state_->has_result = false;
    return static_cast<T>(taken.state_->result.take());
  }

  /// Waits for the fiber. Errors: those of get, except for the fiber's exception, which get throws later. The future
  /// stays valid.
  void wait(wait_options options = {}) {
    detail::throw_if_limited(expected_state().wait(detail::limits_of(options, "fj::future::wait")));
  }

  /// Wait for the fiber, but no longer than until that time. Return whether the fiber has ended. Errors: those of wait,
  /// but no fj::timed_out.
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& t,
                  std::source_location at = std::source_location::current()) {
    return wait_until_deadline(detail::deadline_at(t), at);
  }
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& d,
                std::source_location at = std::source_location::current()) {
    return wait_until_deadline(detail::deadline_after(d), at);
  }

  /// Whether the fiber has ended; false if the future is not valid. Never waits, but may yield.
  bool ready() const noexcept {
    if (state_ && state_->ended_already()) return true;
    detail::maybe_yield();
    return false;
  }

  /// Asks the fiber's stop token to stop. False if the future is not valid, if the function that go was given takes no
  /// token, or if the token was asked before.
  bool request_stop() noexcept { return state_ && state_->request_stop(); }

 private:
  template <class F>
  friend struct detail::starter;
  friend struct detail::future_access;

  detail::go_state<T>& expected_state() const {
    if (!state_)
      throw std::logic_error("fj::future: there is no fiber to wait for; get was called before, or go never");
    return *state_;
  }
  bool wait_until_deadline(detail::deadline t, std::source_location at) {
    return expected_state().wait(detail::limits_until(t, "fj::future::wait_until", at)) == detail::wait_end::served;
  }

  explicit future(detail::go_state<T>& state) noexcept : state_(&state) {}

  detail::go_state<T>* state_ = nullptr;
};

namespace detail {

struct future_access {
  template <class T>
  static future<T> make(go_state<T>& state) noexcept {
    return future<T>(state);
  }
  template <class T>
  static go_job& job(const future<T>& of) {
    return of.expected_state();
  }
};

}  // namespace detail

/// What get throws if a promise has ended without a value.
class broken_promise : public std::exception {
 public:
  const char* what() const noexcept override {
    return "forkjoin: broken promise: a fj::promise was destroyed before it had a value";
  }
};

/// A result that other code gives: a callback of another library, a thread, a fiber that does more than that. Its
/// future is as that of go, but has no fiber to ask for a stop, and an exception that no get takes is lost. Move-only:
/// a promise that was moved from counts as one whose value is set.
template <class T>
class promise {
 public:
  /// Throws std::bad_alloc.
  promise() : state_(new detail::promise_state<T>) {}
  promise(promise&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)), has_future_(std::exchange(other.has_future_, false)) {}
  promise& operator=(promise&& other) noexcept {
    promise(std::move(other)).swap(*this);
    return *this;
  }
  /// If no value and no exception was set, the future's get throws fj::broken_promise.
  ~promise() {
    if (state_) state_->break_it(std::make_exception_ptr(broken_promise()));
  }
  void swap(promise& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(has_future_, other.has_future_);
  }

  /// The future of this promise: to be called once, before the value is set or the promise moved from. Throws
  /// std::logic_error otherwise.
  future<T> get_future() {
    if (!state_ || std::exchange(has_future_, true))
      throw std::logic_error(
          "fj::promise::get_future: it was called already, a value or an exception is set, or the promise was moved "
          "from; call it once, before");
    state_->add_owner();
    return detail::future_access::make<T>(*state_);
  }

  /// Gives the value, and lets those that wait for it go on. Never waits; from any thread. Throws std::logic_error if
  /// there is one already, or the promise was moved from. What its constructor throws becomes the future's exception.
  template <class U = T>
    requires(!std::is_void_v<T> && std::is_constructible_v<T, U>)
  void set_value(U&& value) {
    take_state("fj::promise::set_value").set([&]() -> T { return static_cast<T>(std::forward<U>(value)); });
  }
  void set_value()
    requires std::is_void_v<T>
  {
    take_state("fj::promise::set_value").set([] {});
  }
  /// The future's get throws that exception. Throws std::logic_error as set_value, or if `error` is null; then the
  /// promise is as before.
  void set_exception(std::exception_ptr error) {
    if (!error) throw std::logic_error("fj::promise::set_exception: the pointer is null; pass one to an exception");
    take_state("fj::promise::set_exception").break_it(std::move(error));
  }

 private:
  detail::promise_state<T>& take_state(const char* call) {
    if (!state_)
      throw std::logic_error(std::string(call) +
                             ": a value or an exception is set already, or the promise was moved from; make a new "
                             "promise for another value");
    return *std::exchange(state_, nullptr);
  }

  detail::promise_state<T>* state_;
  bool has_future_ = false;
};

/// For example fj::go({.stack_size = 1 << 20}, f).
struct go_options {
  /// Bytes of stack for this fiber, not touched before use: the runtime rounds them up, to go_stack_size, stack_size or
  /// the next power of two. At most 1 TiB. 0: options::go_stack_size. A stack of more than go_stack_size costs one or
  /// two mappings.
  std::size_t stack_size = 0;
  /// When it becomes ready it goes before other fibers, and a strand that computes yields to it at its next fork, chunk
  /// of a loop or operation of <forkjoin/go.hpp>. At most half of the Ps, at least one, and of each at most half of the
  /// time are for such fibers while others are ready. Its forks have no priority. For brief answers: one that computes
  /// for more than 10 ms, or yields, goes behind the others.
  bool urgent = false;
  /// Where go is called, for fj::lost_fibers; if you keep the options, where they were made. Do not set it.
  std::source_location at = std::source_location::current();
};

namespace detail {

/// Starts f as a fiber of that runtime.
template <class F>
struct starter {
  static_assert(std::is_invocable_v<std::decay_t<F>&> || takes_stop_token<F>,
                "fj::go: the argument must be callable without arguments, or with a fj::stop_token");
  static_assert(std::is_constructible_v<std::decay_t<F>, F>, "fj::go: the function must be movable or copyable");
  using call = go_call<std::decay_t<F>>;

  /// `counted`: counts the fiber as a task of its own, until its future is ready.
  static auto start(scheduler& s, const go_options& wanted, F&& f, task_count* counted = nullptr) {
    auto* const made = new call(std::forward<F>(f));
    future<typename call::result_type> result(*made);
    made->started_at = wanted.at;
    made->urgent = wanted.urgent;
    made->start(s, wanted.stack_size, counted);
    return result;
  }
};

}  // namespace detail

/// Starts f() as a fiber in the runtime that this code runs in; outside any runtime, in the default one. go moves or
/// copies f. f may take a fj::stop_token; future::request_stop and the end of the runtime ask that token to stop.
///
/// The fiber runs concurrently with its creator. Use go for functions that wait for something other than their own
/// children, such as channels, and for functions that outlive the function that starts them. Use a scope's fork
/// (fj::scope) for children that end before the function does: the join throws their exceptions, and such a child costs
/// a tenth of a fiber.
///
/// A fiber that computes for more than 10 ms yields to other fibers that are ready: at its next fork, between two
/// chunks of a loop, or when it uses a channel, a lock, a future, or go. A leaf that does none of these keeps its P.
///
/// Errors: std::bad_alloc if there is no memory, std::system_error if the runtime has no thread and the system refuses
/// one, std::invalid_argument if go_options::stack_size is more than 1 TiB, std::logic_error in a process forked since
/// the runtime was made; outside any runtime what the constructor of fj::runtime throws. f has not begun then, and is
/// destroyed. Cost: an allocation, a stack that the P keeps, and an entry in its run queue. From outside the runtime:
/// an access to the pool of stacks and to the ready queue.
///
/// A frame of more than 64 KiB may step over the guard below the fiber's stack, unless the program is compiled with
/// -fstack-clash-protection.
template <class F>
auto go(const go_options& wanted, F&& f) {
  detail::scheduler* const here = detail::current_scheduler();
  return detail::starter<F>::start(here ? *here : detail::default_scheduler(), wanted, std::forward<F>(f));
}
template <class F>
auto go(F&& f, std::source_location at = std::source_location::current()) {
  return fj::go(go_options{.at = at}, std::forward<F>(f));
}

template <class F, class First, class... More>
  requires(!std::is_same_v<std::remove_cvref_t<F>, go_options>)
void go(F&& f, First&&, More&&...) = delete;  // a closure takes arguments along: fj::go([=] { f(1, 2); })

template <class F>
auto runtime::go(const go_options& wanted, F&& f) {
  return detail::starter<F>::start(*scheduler_, wanted, std::forward<F>(f));
}
template <class F>
auto runtime::go(F&& f, std::source_location at) {
  return go(go_options{.at = at}, std::forward<F>(f));
}

template <class F>
auto runtime_ref::go(F&& f, std::source_location at) const {
  return go(go_options{.at = at}, std::forward<F>(f));
}
template <class F>
auto runtime_ref::go(const go_options& wanted, F&& f) const {
  return detail::starter<F>::start(*scheduler_, wanted, std::forward<F>(f));
}

/// Lets other fibers run first. Outside any runtime the thread yields.
inline void yield() noexcept { detail::yield_strand(); }

}}  // namespace fj::v0_4
