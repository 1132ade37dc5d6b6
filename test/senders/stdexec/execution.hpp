// A stand-in for what tests use of C++26's senders, by the names of stdexec, so that they run where there is no library
// of senders. With Meson's option `stdexec` the same tests run over the real one, too. Only what they use is here, and
// of that only what valid programs do.
#pragma once

#include <atomic>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#define TEST_STAND_IN_FOR_SENDERS

namespace stdexec {

struct sender_tag {};
struct receiver_tag {};
struct operation_state_tag {};
struct scheduler_tag {};

// Completions.

struct set_value_t {
  template <class Receiver, class... Values>
  void operator()(Receiver&& to, Values&&... values) const noexcept {
    std::forward<Receiver>(to).set_value(std::forward<Values>(values)...);
  }
};
struct set_error_t {
  template <class Receiver, class Error>
  void operator()(Receiver&& to, Error&& error) const noexcept {
    std::forward<Receiver>(to).set_error(std::forward<Error>(error));
  }
};
struct set_stopped_t {
  template <class Receiver>
  void operator()(Receiver&& to) const noexcept {
    std::forward<Receiver>(to).set_stopped();
  }
};
inline constexpr set_value_t set_value;
inline constexpr set_error_t set_error;
inline constexpr set_stopped_t set_stopped;

template <class... Signatures>
struct completion_signatures {};

// Queries.

struct env {};

struct get_env_t {
  template <class Of>
  auto operator()(const Of& of) const noexcept {
    if constexpr (requires { of.get_env(); }) {
      return of.get_env();
    } else {
      return env();
    }
  }
};
inline constexpr get_env_t get_env;
template <class Of>
using env_of_t = decltype(get_env(std::declval<Of>()));

template <class Self>
struct simple_query {
  template <class Env>
    requires requires(const Env& of) { of.query(Self()); }
  auto operator()(const Env& of) const noexcept {
    return of.query(Self());
  }
};
struct get_scheduler_t : simple_query<get_scheduler_t> {};
struct get_start_scheduler_t : simple_query<get_start_scheduler_t> {};
struct get_delegation_scheduler_t : simple_query<get_delegation_scheduler_t> {};
template <class Completion>
struct get_completion_scheduler_t : simple_query<get_completion_scheduler_t<Completion>> {};
template <class Completion>
struct get_completion_domain_t : simple_query<get_completion_domain_t<Completion>> {};
struct get_forward_progress_guarantee_t : simple_query<get_forward_progress_guarantee_t> {};
inline constexpr get_scheduler_t get_scheduler;
inline constexpr get_delegation_scheduler_t get_delegation_scheduler;
template <class Completion>
inline constexpr get_completion_scheduler_t<Completion> get_completion_scheduler;
template <class Completion>
inline constexpr get_completion_domain_t<Completion> get_completion_domain;
inline constexpr get_forward_progress_guarantee_t get_forward_progress_guarantee;

struct default_domain {};

enum class forward_progress_guarantee { concurrent, parallel, weakly_parallel };

// Stop tokens.

struct never_stop_token {
  static constexpr bool stop_possible() noexcept { return false; }
  static constexpr bool stop_requested() noexcept { return false; }
};
template <class Token>
concept unstoppable_token = requires { requires !Token::stop_possible(); };

class inplace_stop_source;

class inplace_stop_token {
 public:
  inplace_stop_token() = default;
  explicit inplace_stop_token(const inplace_stop_source& of) noexcept : of_(&of) {}
  bool stop_possible() const noexcept { return of_; }
  bool stop_requested() const noexcept;

 private:
  template <class F>
  friend class inplace_stop_callback;
  const inplace_stop_source* of_ = nullptr;
};

class inplace_stop_source {
 public:
  inplace_stop_source() = default;
  inplace_stop_source(inplace_stop_source&&) = delete;
  inplace_stop_token get_token() const noexcept { return inplace_stop_token(*this); }
  bool stop_requested() const noexcept { return requested_.load(); }
  bool request_stop() noexcept {
    std::unique_lock lock(mutex_);
    if (requested_.exchange(true)) return false;
    by_ = std::this_thread::get_id();
    while (!callbacks_.empty()) {
      auto* const first = callbacks_.front();
      callbacks_.pop_front();
      runs_ = first;
      lock.unlock();
      (*first)();
      lock.lock();
      runs_ = nullptr;
      changed_.notify_all();
    }
    return true;
  }

 private:
  template <class F>
  friend class inplace_stop_callback;

  std::atomic<bool> requested_{false};
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::list<std::function<void()>*> callbacks_;
  std::function<void()>* runs_ = nullptr;
  std::thread::id by_;
};

inline bool inplace_stop_token::stop_requested() const noexcept { return of_ && of_->stop_requested(); }

template <class F>
class inplace_stop_callback {
 public:
  inplace_stop_callback(inplace_stop_token token, F f) : of_(token.of_), call_(std::move(f)) {
    if (!of_) return;
    {
      const std::lock_guard lock(of_->mutex_);
      if (!of_->stop_requested()) {
        of_->callbacks_.push_back(&call_);
        return;
      }
    }
    of_ = nullptr;
    call_();
  }
  inplace_stop_callback(inplace_stop_callback&&) = delete;
  ~inplace_stop_callback() {
    if (!of_) return;
    std::unique_lock lock(of_->mutex_);
    of_->callbacks_.remove(&call_);
    if (of_->by_ != std::this_thread::get_id()) of_->changed_.wait(lock, [&] { return of_->runs_ != &call_; });
  }

 private:
  const inplace_stop_source* of_;
  std::function<void()> call_;
};

struct get_stop_token_t {
  template <class Env>
  auto operator()(const Env& of) const noexcept {
    if constexpr (requires { of.query(get_stop_token_t()); }) {
      return of.query(get_stop_token_t());
    } else {
      return never_stop_token();
    }
  }
};
inline constexpr get_stop_token_t get_stop_token;
template <class Env>
using stop_token_of_t = decltype(get_stop_token(std::declval<Env>()));

// Senders and what they complete with.

template <class S>
concept sender = requires { typename std::remove_cvref_t<S>::sender_concept; };

template <class S, class... Env>
using completion_signatures_of_t = decltype(std::remove_cvref_t<S>::template get_completion_signatures<S, Env...>());

template <class S, class... Env>
concept sender_in = sender<S> && requires { typename completion_signatures_of_t<S, Env...>; };

namespace stand_in {

template <class...>
struct list {};
template <class... Lists>
struct joined;
template <class... A>
struct joined<list<A...>> {
  using type = list<A...>;
};
template <class... A, class... B, class... More>
struct joined<list<A...>, list<B...>, More...> : joined<list<A..., B...>, More...> {};
template <>
struct joined<> {
  using type = list<>;
};

template <class List, class... Seen>
struct unique;
template <class... Seen>
struct unique<list<>, Seen...> {
  using type = list<Seen...>;
};
template <class First, class... More, class... Seen>
struct unique<list<First, More...>, Seen...>
    : std::conditional_t<(std::is_same_v<First, Seen> || ...), unique<list<More...>, Seen...>,
                         unique<list<More...>, Seen..., First>> {};

template <class List>
struct signatures_of_list;
template <class... All>
struct signatures_of_list<list<All...>> {
  using type = completion_signatures<All...>;
};
template <class... Lists>
using signatures = typename signatures_of_list<typename unique<typename joined<Lists...>::type>::type>::type;

template <template <class...> class Tuple, class Signature>
struct values {
  using type = list<>;
};
template <template <class...> class Tuple, class... V>
struct values<Tuple, set_value_t(V...)> {
  using type = list<Tuple<V...>>;
};

template <class Result>
struct value_of {
  using type = set_value_t(Result);
};
template <>
struct value_of<void> {
  using type = set_value_t();
};

template <class Signatures, template <class...> class Tuple, template <class...> class Variant>
struct value_types;
template <class... All, template <class...> class Tuple, template <class...> class Variant>
struct value_types<completion_signatures<All...>, Tuple, Variant> {
  template <class List>
  struct applied;
  template <class... V>
  struct applied<list<V...>> {
    using type = Variant<V...>;
  };
  using type =
      typename applied<typename unique<typename joined<typename values<Tuple, All>::type...>::type>::type>::type;
};

}  // namespace stand_in

template <class S, class Env, template <class...> class Tuple, template <class...> class Variant>
using value_types_of_t = typename stand_in::value_types<completion_signatures_of_t<S, Env>, Tuple, Variant>::type;

struct connect_t {
  template <class S, class Receiver>
  auto operator()(S&& s, Receiver r) const {
    return std::forward<S>(s).connect(std::move(r));
  }
};
struct start_t {
  template <class Operation>
  void operator()(Operation& o) const noexcept {
    o.start();
  }
};
struct schedule_t {
  template <class Scheduler>
  auto operator()(Scheduler&& s) const noexcept {
    return std::forward<Scheduler>(s).schedule();
  }
};
inline constexpr connect_t connect;
inline constexpr start_t start;
inline constexpr schedule_t schedule;

template <class S>
concept scheduler = std::equality_comparable<std::remove_cvref_t<S>> &&
                    std::copy_constructible<std::remove_cvref_t<S>> && requires(S&& s) {
                      { schedule(std::forward<S>(s)) } -> sender;
                    };

template <class S, class Receiver>
using connect_result_t = decltype(connect(std::declval<S>(), std::declval<Receiver>()));

// Sources.

template <class Completion, class... Values>
struct just_sender {
  using sender_concept = sender_tag;
  template <class Self, class... Env>
  static consteval auto get_completion_signatures() noexcept {
    return completion_signatures<Completion(Values...)>();
  }
  template <class Receiver>
  struct operation {
    using operation_state_concept = operation_state_tag;
    Receiver to;
    std::tuple<Values...> values;
    void start() & noexcept {
      std::apply([&](auto&... each) { Completion()(std::move(to), std::move(each)...); }, values);
    }
  };
  template <class Receiver>
  operation<Receiver> connect(Receiver r) {
    return {std::move(r), std::move(values)};
  }
  std::tuple<Values...> values;
};
template <class... Values>
auto just(Values... values) {
  return just_sender<set_value_t, Values...>{{std::move(values)...}};
}
template <class Error>
auto just_error(Error error) {
  return just_sender<set_error_t, Error>{{std::move(error)}};
}
inline auto just_stopped() { return just_sender<set_stopped_t>{}; }

// then.

template <class S, class F>
struct then_sender {
  using sender_concept = sender_tag;

  template <class Signature>
  struct change {
    using type = stand_in::list<Signature>;
  };
  template <class... Values>
  struct change<set_value_t(Values...)> {
    using type = stand_in::list<typename stand_in::value_of<std::invoke_result_t<F, Values...>>::type,
                                set_error_t(std::exception_ptr)>;
  };
  template <class... All>
  static auto changed(completion_signatures<All...>) -> stand_in::signatures<typename change<All>::type...>;

  template <class Self, class... Env>
  static consteval auto get_completion_signatures() noexcept {
    return decltype(changed(completion_signatures_of_t<S, Env...>()))();
  }
  template <class Receiver>
  struct receiver {
    using receiver_concept = receiver_tag;
    Receiver to;
    F f;
    auto get_env() const noexcept { return stdexec::get_env(to); }
    template <class... Values>
    void set_value(Values&&... values) noexcept {
      try {
        if constexpr (std::is_void_v<std::invoke_result_t<F, Values...>>) {
          std::invoke(std::move(f), std::forward<Values>(values)...);
          stdexec::set_value(std::move(to));
        } else {
          stdexec::set_value(std::move(to), std::invoke(std::move(f), std::forward<Values>(values)...));
        }
      } catch (...) {
        stdexec::set_error(std::move(to), std::current_exception());
      }
    }
    template <class Error>
    void set_error(Error&& error) noexcept {
      stdexec::set_error(std::move(to), std::forward<Error>(error));
    }
    void set_stopped() noexcept { stdexec::set_stopped(std::move(to)); }
  };
  template <class Receiver>
  auto connect(Receiver r) {
    return stdexec::connect(std::move(s), receiver<Receiver>{std::move(r), std::move(f)});
  }
  auto get_env() const noexcept { return stdexec::get_env(s); }

  S s;
  F f;
};

// continues_on.

template <class S, class Scheduler>
struct continues_on_sender {
  using sender_concept = sender_tag;

  template <class Signature>
  struct values_of {
    using type = stand_in::list<>;
  };
  template <class... V>
  struct values_of<set_value_t(V...)> {
    using type = stand_in::list<std::tuple<std::decay_t<V>...>>;
  };

  template <class... A, class... B>
  static auto both(completion_signatures<A...>, completion_signatures<B...>) -> stand_in::signatures<
      stand_in::list<A...>,
      stand_in::list<std::conditional_t<std::is_same_v<B, set_value_t()>, set_stopped_t(), B>>...>;

  template <class Self, class... Env>
  static consteval auto get_completion_signatures() noexcept {
    return decltype(both(
        completion_signatures_of_t<S, Env...>(),
        completion_signatures_of_t<decltype(stdexec::schedule(std::declval<Scheduler>())), Env...>()))();
  }

  template <class Receiver>
  struct operation {
    using operation_state_concept = operation_state_tag;
    using signatures = completion_signatures_of_t<S, env_of_t<Receiver>>;
    template <class List>
    struct kept;
    template <class... All>
    struct kept<completion_signatures<All...>> {
      template <class L>
      struct one;
      template <class... T>
      struct one<stand_in::list<T...>> {
        using type = std::variant<std::monostate, T...>;
      };
      using type = typename one<
          typename stand_in::unique<typename stand_in::joined<typename values_of<All>::type...>::type>::type>::type;
    };

    struct there {
      using receiver_concept = receiver_tag;
      operation* of;
      auto get_env() const noexcept { return stdexec::get_env(of->to); }
      void set_value() noexcept {
        std::visit(
            [&]<class V>(V& v) {
              if constexpr (!std::is_same_v<V, std::monostate>)
                std::apply([&](auto&... each) { stdexec::set_value(std::move(of->to), std::move(each)...); }, v);
            },
            of->values);
      }
      template <class Error>
      void set_error(Error&& error) noexcept {
        stdexec::set_error(std::move(of->to), std::forward<Error>(error));
      }
      void set_stopped() noexcept { stdexec::set_stopped(std::move(of->to)); }
    };
    struct here {
      using receiver_concept = receiver_tag;
      operation* of;
      auto get_env() const noexcept { return stdexec::get_env(of->to); }
      template <class... Values>
      void set_value(Values&&... sent) noexcept {
        of->values.template emplace<std::tuple<std::decay_t<Values>...>>(std::forward<Values>(sent)...);
        of->second.start();
      }
      template <class Error>
      void set_error(Error&& error) noexcept {
        stdexec::set_error(std::move(of->to), std::forward<Error>(error));
      }
      void set_stopped() noexcept { stdexec::set_stopped(std::move(of->to)); }
    };

    operation(S s, Scheduler on, Receiver r)
        : to(std::move(r)),
          second(stdexec::schedule(on).connect(there{this})),
          first(std::move(s).connect(here{this})) {}
    operation(operation&&) = delete;
    void start() & noexcept { first.start(); }

    Receiver to;
    typename kept<signatures>::type values;
    connect_result_t<decltype(stdexec::schedule(std::declval<Scheduler>())), there> second;
    connect_result_t<S, here> first;
  };
  template <class Receiver>
  operation<Receiver> connect(Receiver r) {
    return {std::move(s), on, std::move(r)};
  }

  S s;
  Scheduler on;
};

// Pipes.

template <class F>
struct closure {
  F f;
  template <sender S>
  friend auto operator|(S&& s, closure c) {
    return std::move(c.f)(std::forward<S>(s));
  }
};
template <class F>
closure(F) -> closure<F>;

struct then_t {
  template <sender S, class F>
  auto operator()(S s, F f) const {
    return then_sender<S, F>{std::move(s), std::move(f)};
  }
  template <class F>
  auto operator()(F f) const {
    return closure{[f = std::move(f)](auto s) mutable { return then_t()(std::move(s), std::move(f)); }};
  }
};
struct continues_on_t {
  template <sender S, scheduler Scheduler>
  auto operator()(S s, Scheduler on) const {
    return continues_on_sender<S, Scheduler>{std::move(s), on};
  }
  template <scheduler Scheduler>
  auto operator()(Scheduler on) const {
    return closure{[on](auto s) { return continues_on_t()(std::move(s), on); }};
  }
};
inline constexpr then_t then;
inline constexpr continues_on_t continues_on;

// Bulk: what the domain makes of it, where the sender before completes on a scheduler that has one.

struct sequenced_policy {};
struct parallel_policy {};
struct parallel_unsequenced_policy {};
inline constexpr sequenced_policy seq;
inline constexpr parallel_policy par;
inline constexpr parallel_unsequenced_policy par_unseq;

template <class Policy, class Shape, class F>
struct bulk_data {
  Policy policy;
  Shape shape;
  F f;
};

template <class Tag, class Data, class Child>
struct bulk_sender {
  using sender_concept = sender_tag;
  template <class S>
  static auto transformed(S&& s) {
    using domain = decltype(get_completion_domain<set_value_t>(stdexec::get_env(s.child)));
    return domain().transform_sender(set_value_t(), std::forward<S>(s), env());
  }
  template <class Self, class... Env>
  static consteval auto get_completion_signatures() noexcept {
    return completion_signatures_of_t<decltype(transformed(std::declval<bulk_sender>())), Env...>();
  }
  template <class Receiver>
  auto connect(Receiver r) && {
    return stdexec::connect(transformed(std::move(*this)), std::move(r));
  }
  template <class Receiver>
  auto connect(Receiver r) const& {
    return stdexec::connect(transformed(*this), std::move(r));
  }
  auto get_env() const noexcept { return stdexec::get_env(child); }

  Tag tag;
  Data data;
  Child child;
};
template <class S>
using tag_of_t = std::remove_cvref_t<decltype(std::declval<S>().tag)>;

template <class Self>
struct bulk_tag {
  template <sender S, class Policy, class Shape, class F>
  auto operator()(S s, Policy policy, Shape shape, F f) const {
    using data = bulk_data<Policy, Shape, F>;
    return bulk_sender<Self, data, S>{Self(), data{policy, shape, std::move(f)}, std::move(s)};
  }
  template <class Policy, class Shape, class F>
  auto operator()(Policy policy, Shape shape, F f) const {
    return closure{[policy, shape, f = std::move(f)](auto s) mutable {
      return Self()(std::move(s), policy, shape, std::move(f));
    }};
  }
};
struct bulk_chunked_t : bulk_tag<bulk_chunked_t> {};
struct bulk_unchunked_t : bulk_tag<bulk_unchunked_t> {};
inline constexpr bulk_chunked_t bulk_chunked;
inline constexpr bulk_unchunked_t bulk_unchunked;

// The parallel scheduler, over the backend that the program has.

#ifndef STDEXEC_PARALLEL_SCHEDULER_SCHEDULE_OP_SIZE
#define STDEXEC_PARALLEL_SCHEDULER_SCHEDULE_OP_SIZE 72
#endif

namespace parallel_scheduler_replacement {

struct receiver_proxy {
  virtual ~receiver_proxy() = default;
  virtual void set_value() noexcept = 0;
  virtual void set_error(std::exception_ptr error) noexcept = 0;
  virtual void set_stopped() noexcept = 0;
  template <class Token>
  std::optional<Token> try_query(get_stop_token_t) const noexcept {
    return token();
  }

 protected:
  virtual std::optional<inplace_stop_token> token() const noexcept = 0;
};
struct bulk_item_receiver_proxy : receiver_proxy {
  virtual void execute(std::size_t first, std::size_t last) noexcept = 0;
};
struct parallel_scheduler_backend {
  virtual ~parallel_scheduler_backend() = default;
  virtual void schedule(receiver_proxy& to, std::span<std::byte> scratch) noexcept = 0;
  virtual void schedule_bulk_chunked(std::size_t count, bulk_item_receiver_proxy& to,
                                     std::span<std::byte> scratch) noexcept = 0;
  virtual void schedule_bulk_unchunked(std::size_t count, bulk_item_receiver_proxy& to,
                                       std::span<std::byte> scratch) noexcept = 0;
};

std::shared_ptr<parallel_scheduler_backend> query_parallel_scheduler_backend();

}  // namespace parallel_scheduler_replacement

class parallel_scheduler {
 public:
  using scheduler_concept = scheduler_tag;
  using backend = std::shared_ptr<parallel_scheduler_replacement::parallel_scheduler_backend>;

  explicit parallel_scheduler(backend by) : by_(std::move(by)) {}

  template <class Receiver>
  struct operation : parallel_scheduler_replacement::receiver_proxy {
    using operation_state_concept = operation_state_tag;
    operation(backend on, Receiver r) : by(std::move(on)), to(std::move(r)) {}
    operation(operation&&) = delete;
    void start() & noexcept { by->schedule(*this, scratch); }
    void set_value() noexcept override { stdexec::set_value(std::move(to)); }
    void set_error(std::exception_ptr error) noexcept override { stdexec::set_error(std::move(to), std::move(error)); }
    void set_stopped() noexcept override { stdexec::set_stopped(std::move(to)); }
    std::optional<inplace_stop_token> token() const noexcept override {
      if constexpr (std::is_same_v<stop_token_of_t<env_of_t<Receiver>>, inplace_stop_token>) {
        return stdexec::get_stop_token(stdexec::get_env(to));
      } else {
        return std::nullopt;
      }
    }
    backend by;
    Receiver to;
    alignas(8) std::byte scratch[STDEXEC_PARALLEL_SCHEDULER_SCHEDULE_OP_SIZE];
  };
  struct sender {
    using sender_concept = sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
      return completion_signatures<set_value_t(), set_stopped_t(), set_error_t(std::exception_ptr)>();
    }
    template <class Receiver>
    operation<Receiver> connect(Receiver r) const {
      return {by, std::move(r)};
    }
    backend by;
  };
  sender schedule() const noexcept { return {by_}; }
  bool operator==(const parallel_scheduler&) const noexcept = default;

 private:
  backend by_;
};

inline parallel_scheduler get_parallel_scheduler() {
  return parallel_scheduler(parallel_scheduler_replacement::query_parallel_scheduler_backend());
}

// sync_wait.

template <class... V>
using decayed_tuple = std::tuple<std::decay_t<V>...>;

template <class Values>
struct sync_state {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::optional<Values> values;
  std::exception_ptr error;
  void end() noexcept {
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_all();
  }
};
template <class Values>
struct sync_receiver {
  using receiver_concept = receiver_tag;
  sync_state<Values>* state;
  template <class... V>
  void set_value(V&&... v) noexcept {
    state->values.emplace(std::forward<V>(v)...);
    state->end();
  }
  void set_error(std::exception_ptr error) noexcept {
    state->error = std::move(error);
    state->end();
  }
  void set_stopped() noexcept { state->end(); }
};
template <class S>
auto sync_wait(S&& s) {
  using values = value_types_of_t<S, env, decayed_tuple, std::type_identity_t>;
  sync_state<values> state;
  auto operation = connect(std::forward<S>(s), sync_receiver<values>{&state});
  start(operation);
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&] { return state.done; });
  if (state.error) std::rethrow_exception(state.error);
  return std::move(state.values);
}

}  // namespace stdexec
