// C++26's senders over a runtime: its scheduler, and waits for any sender. For programs that have std::execution or
// stdexec.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <version>

#if defined(__cpp_lib_senders)
#include <execution>

namespace fj { inline namespace v0_4 { namespace detail { namespace ex {
using namespace std::execution;
using std::get_stop_token;
using std::get_stop_token_t;
using std::inplace_stop_source;
using std::inplace_stop_token;
using std::stop_token_of_t;
using std::unstoppable_token;
}}}}  // namespace fj::v0_4::detail::ex

#elif __has_include(<stdexec/execution.hpp>)
#include <stdexec/execution.hpp>

namespace fj { inline namespace v0_4 { namespace detail {
namespace ex = stdexec;
}}}  // namespace fj::v0_4::detail

#else
#define FORKJOIN_WITHOUT_SENDERS
#error "<forkjoin/execution.hpp> needs std::execution of C++26, or NVIDIA's stdexec: add its include folder by -I"
#endif

#ifndef FORKJOIN_WITHOUT_SENDERS

#include <coroutine>
#include <exception>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/scheduled_call.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "forkjoin/detail/operation_wait.hpp"
#include "forkjoin/go/future.hpp"
#include "forkjoin/go/wait_options.hpp"
#include "forkjoin/parallel_for_blocks.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

template <class Receiver>
class schedule_operation {
 public:
  using operation_state_concept = ex::operation_state_tag;

  schedule_operation(detail::scheduler& s, Receiver r) noexcept(std::is_nothrow_move_constructible_v<Receiver>)
      : scheduler_(s), receiver_(std::move(r)), call_(&complete, this) {}
  schedule_operation(schedule_operation&&) = delete;

  void start() & noexcept { call_.start(scheduler_); }

 private:
  static void complete(job_body& body) noexcept {
    Receiver& to = static_cast<schedule_operation*>(static_cast<operation_body&>(body).operation)->receiver_;
    if constexpr (!ex::unstoppable_token<ex::stop_token_of_t<ex::env_of_t<Receiver>>>)
      if (ex::get_stop_token(ex::get_env(to)).stop_requested()) return ex::set_stopped(std::move(to));
    ex::set_value(std::move(to));
  }

  detail::scheduler& scheduler_;
  Receiver receiver_;
  scheduled_call call_;
};

// bulk, bulk_chunked and bulk_unchunked, where they complete on a scheduler of this library: loops of the library.

template <class Policy>
constexpr bool is_parallel(const Policy&) noexcept {
  return std::is_same_v<Policy, std::remove_cvref_t<decltype(ex::par)>> ||
         std::is_same_v<Policy, std::remove_cvref_t<decltype(ex::par_unseq)>>;
}
template <class Wrapped>
  requires requires(const Wrapped& w) { w.__get(); }  // stdexec's
constexpr bool is_parallel(const Wrapped& w) noexcept {
  return detail::is_parallel(w.__get());
}

template <class Tag, class Shape, class F>
struct bulk_loop {
  static constexpr bool is_chunked = std::is_same_v<Tag, ex::bulk_chunked_t>;

  template <class... Values>
  static constexpr bool is_nothrow() noexcept {
    if constexpr (is_chunked) {
      return std::is_nothrow_invocable_v<F&, Shape, Shape, Values&...>;
    } else {
      return std::is_nothrow_invocable_v<F&, Shape, Values&...>;
    }
  }

  template <class... Values>
  void run(Values&... values) {
    const auto block = [&](Shape first, Shape last) {
      if constexpr (is_chunked) {
        f(first, last, values...);
      } else {
        for (; first < last; ++first) f(first, values...);
      }
    };
    if (!(Shape(0) < shape)) return;
    parallel ? fj::parallel_for_blocks(Shape(0), shape, block) : block(Shape(0), shape);
  }

  const bool parallel;
  const Shape shape;
  F f;
};

template <class Loop, class Receiver>
class bulk_receiver {
 public:
  using receiver_concept = ex::receiver_tag;

  bulk_receiver(Loop loop, Receiver r) : loop_(std::move(loop)), to_(std::move(r)) {}

  ex::env_of_t<Receiver> get_env() const noexcept { return ex::get_env(to_); }
  template <class... Values>
  void set_value(Values&&... values) noexcept {
    if constexpr (Loop::template is_nothrow<std::remove_reference_t<Values>...>()) {
      loop_.run(values...);
    } else {
      std::exception_ptr error;
      try {
        loop_.run(values...);
      } catch (...) {
        error = std::current_exception();
      }
      if (error) return ex::set_error(std::move(to_), std::move(error));  // not in the handler, which keeps it, too
    }
    ex::set_value(std::move(to_), std::forward<Values>(values)...);
  }
  template <class Error>
  void set_error(Error&& error) noexcept {
    ex::set_error(std::move(to_), std::forward<Error>(error));
  }
  void set_stopped() noexcept { ex::set_stopped(std::move(to_)); }

 private:
  Loop loop_;
  Receiver to_;
};

/// Those of the sender before a loop, and an exception if the loop may throw one.
template <class Loop, class Signature>
struct throws_after {
  static constexpr bool value = false;
};
template <class Loop, class... Values>
struct throws_after<Loop, ex::set_value_t(Values...)> {
  static constexpr bool value = !Loop::template is_nothrow<std::remove_reference_t<Values>...>();
};
template <class Loop, class... All>
constexpr auto after_loop(ex::completion_signatures<All...>) noexcept {
  using exception = ex::set_error_t(std::exception_ptr);
  if constexpr ((throws_after<Loop, All>::value || ...) && !(std::is_same_v<All, exception> || ...)) {
    return ex::completion_signatures<All..., exception>();
  } else {
    return ex::completion_signatures<All...>();
  }
}

template <class Loop, class Child>
class bulk_sender {
 public:
  using sender_concept = ex::sender_tag;

  bulk_sender(Loop loop, Child child) : loop_(std::move(loop)), child_(std::move(child)) {}

  template <class Self, class... Env>
  static consteval auto get_completion_signatures() {
    return detail::after_loop<Loop>(ex::completion_signatures_of_t<Child, Env...>());
  }
  template <class Receiver>
  auto connect(Receiver r) && {
    return ex::connect(std::move(child_), bulk_receiver<Loop, Receiver>(std::move(loop_), std::move(r)));
  }
  template <class Receiver>
  auto connect(Receiver r) const& {
    return ex::connect(child_, bulk_receiver<Loop, Receiver>(loop_, std::move(r)));
  }
  ex::env_of_t<Child> get_env() const noexcept { return ex::get_env(child_); }

 private:
  Loop loop_;
  Child child_;
};

/// Where a sender completes on a scheduler of this library.
struct scheduler_domain : ex::default_domain {
  template <class Sender, class Env>
    requires(std::is_same_v<ex::tag_of_t<Sender>, ex::bulk_chunked_t> ||
             std::is_same_v<ex::tag_of_t<Sender>, ex::bulk_unchunked_t>)
  constexpr auto transform_sender(ex::set_value_t, Sender&& sender, const Env&) const {
    auto& [tag, data, child] = sender;
    auto& [policy, shape, f] = data;
    using loop =
        bulk_loop<ex::tag_of_t<Sender>, std::remove_cvref_t<decltype(shape)>, std::remove_cvref_t<decltype(f)>>;
    using from = std::remove_cvref_t<decltype(child)>;
    if constexpr (std::is_lvalue_reference_v<Sender>) {
      return bulk_sender<loop, from>({detail::is_parallel(policy), shape, f}, child);
    } else {
      return bulk_sender<loop, from>({detail::is_parallel(policy), shape, std::move(f)}, std::move(child));
    }
  }
};

}  // namespace detail

/// A scheduler of C++26, of a runtime: runtime::scheduler and runtime_ref::scheduler return it. It must not be used
/// once the runtime is gone.
///
/// What follows schedule() runs in a strand of its own on a P: it may fork, wait, and block by fj::blocking. It cannot
/// fail. It is stopped if the receiver's stop token was asked to stop before its turn came. The operation takes no
/// memory: it lies in the operation state, and its stack comes from those that the runtime keeps. If the system refuses
/// a stack, the operation waits until it gives one, or until another strand ends. If it refuses the runtime its first
/// thread, start waits for that. In a process forked since the runtime was made, start ends the process with a message.
class scheduler {
 public:
  using scheduler_concept = detail::ex::scheduler_tag;

  /// Throws nothing.
  explicit scheduler(runtime_ref of) noexcept : of_(of) {}

  /// The sender that schedule returns.
  class sender {
   public:
    using sender_concept = detail::ex::sender_tag;

    /// What get_env returns: the completion scheduler and its domain.
    class attributes {
     public:
      template <class Tag>
      fj::scheduler query(detail::ex::get_completion_scheduler_t<Tag>) const noexcept {
        return fj::scheduler(of_);
      }
      detail::scheduler_domain query(detail::ex::get_completion_domain_t<detail::ex::set_value_t>) const noexcept {
        return {};
      }

     private:
      friend class sender;
      explicit attributes(runtime_ref of) noexcept : of_(of) {}

      runtime_ref of_;
    };

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
      namespace ex = detail::ex;
      if constexpr (sizeof...(Env) == 1 && (ex::unstoppable_token<ex::stop_token_of_t<Env>> && ...)) {
        return ex::completion_signatures<ex::set_value_t()>();
      } else {
        return ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>();
      }
    }
    template <class Receiver>
    detail::schedule_operation<Receiver> connect(Receiver r) const {
      return {detail::scheduler_of(of_), std::move(r)};
    }
    attributes get_env() const noexcept { return attributes(of_); }

   private:
    friend class scheduler;
    explicit sender(runtime_ref of) noexcept : of_(of) {}

    runtime_ref of_;
  };

  sender schedule() const noexcept { return sender(of_); }
  runtime_ref runtime() const noexcept { return of_; }

  detail::ex::forward_progress_guarantee query(detail::ex::get_forward_progress_guarantee_t) const noexcept {
    return detail::ex::forward_progress_guarantee::parallel;
  }
  detail::scheduler_domain query(detail::ex::get_completion_domain_t<detail::ex::set_value_t>) const noexcept {
    return {};
  }

  /// Whether both are of the same runtime.
  friend bool operator==(const scheduler& a, const scheduler& b) noexcept = default;

 private:
  runtime_ref of_;
};

inline fj::scheduler runtime::scheduler() noexcept { return fj::scheduler(*this); }
inline fj::scheduler runtime_ref::scheduler() const noexcept { return fj::scheduler(*this); }

namespace detail {

/// The environment of a sender for which fj::wait waits.
class wait_environment {
 public:
  wait_environment(fj::scheduler here, const ex::inplace_stop_source& stops) noexcept : here_(here), stops_(&stops) {}

  ex::inplace_stop_token query(ex::get_stop_token_t) const noexcept { return stops_->get_token(); }
  fj::scheduler query(ex::get_scheduler_t) const noexcept { return here_; }
  fj::scheduler query(ex::get_start_scheduler_t) const noexcept { return here_; }
  fj::scheduler query(ex::get_delegation_scheduler_t) const noexcept { return here_; }

 private:
  fj::scheduler here_;
  const ex::inplace_stop_source* stops_;
};

template <class... Values>
using decayed_values = std::tuple<std::decay_t<Values>...>;

template <class... Ways>
struct completion_with_value {
  static_assert(sizeof...(Ways) < 2,
                "fj::wait: the sender may complete with different values; pass it through into_variant first");
  using type = std::tuple<>;
};
template <class Values>
struct completion_with_value<Values> {
  using type = Values;
};

/// What fj::wait returns for those values: nothing, a value or a tuple.
template <class Values>
struct awaited_values {
  using type = Values;
};
template <>
struct awaited_values<std::tuple<>> {
  using type = void;
};
template <class Value>
struct awaited_values<std::tuple<Value>> {
  using type = Value;
};

/// In the frame of the call of fj::wait.
template <class Values>
class sender_wait {
 public:
  /// Errors: as the constructor of a waiter.
  sender_wait(fj::scheduler here, const wait_options& options) : here_(here), wait_(limits_of(options, "fj::wait")) {}
  sender_wait(const sender_wait&) = delete;
  sender_wait& operator=(const sender_wait&) = delete;

  wait_environment environment() const noexcept { return {here_, stops_}; }

  // By the sender, one of these, from any thread. This object may be gone when it returns.
  template <class... Given>
  void set_value(Given&&... given) noexcept {
    try {
      values_.emplace(std::forward<Given>(given)...);
    } catch (...) {
      error_ = std::current_exception();
    }
    wait_.end();
  }
  template <class Error>
  void set_error(Error&& error) noexcept {
    using type = std::decay_t<Error>;
    if constexpr (std::is_same_v<type, std::exception_ptr>) {
      error_ = std::forward<Error>(error);
    } else if constexpr (std::is_same_v<type, std::error_code>) {
      error_ = std::make_exception_ptr(std::system_error(error));
    } else {
      error_ = std::make_exception_ptr(std::forward<Error>(error));
    }
    wait_.end();
  }
  void set_stopped() noexcept { wait_.end(); }

  Values wait() {
    // The operation lies in the frame of this wait, too, so the frame has to stay until that is over.
    const wait_end ended = wait_.wait([&] { stops_.request_stop(); });
    if (error_) std::rethrow_exception(std::move(error_));
    if (values_) return *std::move(values_);
    throw_if_limited(ended);
    throw cancelled();
  }

 private:
  const fj::scheduler here_;
  ex::inplace_stop_source stops_;
  operation_wait wait_;
  std::optional<Values> values_;
  std::exception_ptr error_;
};

template <class Values>
class wait_receiver {
 public:
  using receiver_concept = ex::receiver_tag;

  explicit wait_receiver(sender_wait<Values>& of) noexcept : of_(&of) {}

  wait_environment get_env() const noexcept { return of_->environment(); }
  template <class... Given>
  void set_value(Given&&... given) noexcept {
    of_->set_value(std::forward<Given>(given)...);
  }
  template <class Error>
  void set_error(Error&& error) noexcept {
    of_->set_error(std::forward<Error>(error));
  }
  void set_stopped() noexcept { of_->set_stopped(); }

 private:
  sender_wait<Values>* of_;
};

}  // namespace detail

/// Starts a sender and waits until it has completed. A fiber or a branch waits without its worker, which does other
/// work; a thread outside any runtime sleeps. Returns what the sender completes with: nothing, a value, or a tuple of
/// several. Throws its error: std::system_error for a std::error_code, otherwise the error itself. Throws fj::cancelled
/// if it was stopped.
///
/// If the time options.until comes, or options.stop is asked to stop, the sender's stop token is asked to stop; then
/// wait waits on, until the sender has completed. If it was stopped, wait throws fj::timed_out or fj::cancelled. A
/// value or an error that comes in spite of that is returned or thrown.
///
/// The sender finds in its environment, by get_scheduler, get_start_scheduler and get_delegation_scheduler, the
/// scheduler of the runtime that wait is called in; outside any runtime, that of the default one.
///
/// Errors of its own: std::bad_alloc if there is no memory for the wait; outside any runtime what the constructor of
/// fj::runtime throws. Cost: that of the sender's operation, which lies in the frame of this call, and of a wait of a
/// fiber. No allocation of its own, except of an exception.
template <class Sender>
  requires detail::ex::sender_in<Sender, detail::wait_environment>
auto wait(Sender&& sender, wait_options options = {}) {
  namespace ex = detail::ex;
  using values = typename ex::value_types_of_t<Sender, detail::wait_environment, detail::decayed_values,
                                               detail::completion_with_value>::type;
  detail::maybe_yield();
  detail::sender_wait<values> state(this_runtime().scheduler(), options);
  auto operation = ex::connect(std::forward<Sender>(sender), detail::wait_receiver<values>(state));
  ex::start(operation);
  using result = typename detail::awaited_values<values>::type;
  if constexpr (std::is_void_v<result>) {
    state.wait();
  } else if constexpr (std::tuple_size_v<values> == 1) {
    return result(std::get<0>(state.wait()));
  } else {
    return result(state.wait());
  }
}

namespace detail {

/// Suspends a coroutine, and resumes it in a strand of a runtime.
class resumed_on_a_p {
 public:
  explicit resumed_on_a_p(detail::scheduler& s) noexcept : scheduler_(s) {}
  resumed_on_a_p(const resumed_on_a_p&) = delete;
  resumed_on_a_p& operator=(const resumed_on_a_p&) = delete;

  void await_suspend(std::coroutine_handle<> waits) noexcept {
    waits_ = waits;
    call_.start(scheduler_);
  }

 private:
  static void resume(job_body& body) noexcept {
    static_cast<resumed_on_a_p*>(static_cast<operation_body&>(body).operation)->waits_.resume();
  }

  detail::scheduler& scheduler_;
  std::coroutine_handle<> waits_;
  scheduled_call call_{&resume, this};
};

class scheduler_awaiter : public resumed_on_a_p {
 public:
  using resumed_on_a_p::resumed_on_a_p;

  bool await_ready() const noexcept { return false; }
  void await_resume() const noexcept {}
};

template <class T>
class future_awaiter : public resumed_on_a_p {
 public:
  explicit future_awaiter(future<T> of) : resumed_on_a_p(scheduler_of(this_runtime())), of_(std::move(of)) {}

  bool await_ready() const noexcept { return of_.ready(); }
  T await_resume() { return of_.get(); }  // waits on the P, which does other work

 private:
  future<T> of_;
};

}  // namespace detail

/// For any coroutine: it is suspended, and resumes on a P of that runtime, where it may fork, wait and block as any
/// strand, until it is suspended again. As schedule(), it cannot fail and takes no memory.
inline detail::scheduler_awaiter operator co_await(const scheduler& on) noexcept {
  return detail::scheduler_awaiter(detail::scheduler_of(on.runtime()));
}

/// For any coroutine: the future's result, or its exception, as from get. If it is not ready, the coroutine is
/// suspended, and resumes on a P of the runtime that it ran in; outside any, of the default one. Errors: those of get,
/// and outside any runtime what the constructor of fj::runtime throws. Cost: a strand that waits for the future.
template <class T>
detail::future_awaiter<T> operator co_await(future<T>&& of) {
  return detail::future_awaiter<T>(std::move(of));
}

}}  // namespace fj::v0_4

#endif
#undef FORKJOIN_WITHOUT_SENDERS
