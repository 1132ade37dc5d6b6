// A wait for one of several channels.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "forkjoin/abi/go_job.hpp"
#include "forkjoin/abi/select.hpp"
#include "forkjoin/detail/deadline.hpp"
#include "forkjoin/go/channel.hpp"
#include "forkjoin/go/directional_channel.hpp"
#include "forkjoin/go/future.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

/// A case on a channel.
template <class T, class F>
struct receive_case : select_case {
  receive_case(const channel<T>& c, F f, std::source_location made) : of(c), handler(std::move(f)), made_at(made) {
    if (of) channel_access::state(of)->make_receive(*this, value);
  }

  void run(bool) {
    std::optional<T> received = std::move(value);
    value.reset();  // a select in a loop may get the case again
    static_cast<void>(std::invoke(handler, std::move(received)));
  }
  channel<T> of;
  F handler;
  std::optional<T> value;
  std::source_location made_at;
};

template <class T, class F>
struct send_case : select_case {
  send_case(const channel<T>& c, T v, F f, std::source_location made)
      : of(c), value(std::move(v)), handler(std::move(f)), made_at(made) {
    if (of) channel_access::state(of)->make_send(*this, value);
  }

  void run(bool closed) {
    if (closed) throw channel_closed();
    sent = true;
    static_cast<void>(std::invoke(handler));
  }
  channel<T> of;
  T value;
  F handler;
  std::source_location made_at;
  bool sent = false;
};

/// A case on a time.
template <class F>
struct after_case : select_case {
  after_case(deadline t, F f, std::source_location made) : handler(std::move(f)), made_at(made) {
    at = nanoseconds_of(t);
  }
  void run(bool) { static_cast<void>(std::invoke(handler)); }
  F handler;
  std::source_location made_at;
};

/// A case on the end of a fiber. It owns the job, too: the handler may take the result, and a later select ask again.
template <class F>
struct ready_case : select_case {
  ready_case(go_job& its_job, F f, std::source_location made) : of(its_job), handler(std::move(f)), made_at(made) {
    of.share();
    of.make_case(*this);
  }
  ~ready_case() { of.drop(); }
  ready_case(const ready_case&) = delete;
  ready_case& operator=(const ready_case&) = delete;

  void run(bool) {
    was_chosen = true;
    static_cast<void>(std::invoke(handler));
  }
  go_job& of;
  F handler;
  std::source_location made_at;
  bool was_chosen = false;
};

template <class F>
struct otherwise_case {
  F handler;
  std::source_location made_at;
};

template <class Case>
inline constexpr bool is_otherwise = false;
template <class F>
inline constexpr bool is_otherwise<otherwise_case<F>> = true;

template <class Case>
inline constexpr bool is_send = false;
template <class T, class F>
inline constexpr bool is_send<send_case<T, F>> = true;

template <class Case>
inline constexpr bool is_ready = false;
template <class F>
inline constexpr bool is_ready<ready_case<F>> = true;

template <class Case>
void collect(select_case**& to, Case& c) {
  if constexpr (is_send<Case>) {
    if (c.sent)
      throw std::logic_error(
          "fj::select: this case of fj::on_send has sent its value in an earlier call; make a new one");
  }
  if constexpr (!is_otherwise<Case>) *to++ = &c;
}

/// Runs the handler of the case that was chosen.
template <class Case>
void run_chosen(bool closed, Case& c) {
  if constexpr (is_otherwise<Case>) {
    static_cast<void>(std::invoke(c.handler));
  } else {
    c.run(closed);
  }
}

template <class Case>
bool is_chosen(const select_case* chosen, const Case& c) noexcept {
  if constexpr (is_otherwise<Case>) {
    return !chosen;
  } else {
    return chosen == &c;
  }
}

}  // namespace detail

/// A case of select: f(std::optional<T>) with a value of the channel; the optional is empty if the channel is closed
/// and holds no value.
template <class T, class F>
auto on_receive(const channel<T>& c, F f, std::source_location at = std::source_location::current()) {
  static_assert(std::is_invocable_v<F&, std::optional<T>>,
                "fj::on_receive: the handler takes a std::optional of the channel's values");
  return detail::receive_case<T, F>(c, std::move(f), at);
}
template <class T, class F>
auto on_receive(const receive_channel<T>& c, F f, std::source_location at = std::source_location::current()) {
  return fj::on_receive(detail::channel_access::whole(c), std::move(f), at);
}
template <class T, class F>
void on_receive(const send_channel<T>&, F) = delete;  // this handle only sends

/// A case of select: f() once the value has been sent. If the channel is closed, select throws channel_closed.
template <class T, class F>
auto on_send(const channel<T>& c, std::type_identity_t<T> value, F f,
             std::source_location at = std::source_location::current()) {
  static_assert(std::is_invocable_v<F&>, "fj::on_send: the handler takes no arguments");
  return detail::send_case<T, F>(c, std::move(value), std::move(f), at);
}
template <class T, class F>
auto on_send(const send_channel<T>& c, std::type_identity_t<T> value, F f,
             std::source_location at = std::source_location::current()) {
  return fj::on_send(detail::channel_access::whole(c), std::move(value), std::move(f), at);
}
template <class T, class F>
void on_send(const receive_channel<T>&, std::type_identity_t<T>, F) = delete;  // this handle only receives

/// A case of select: f() once that future is ready. Its get does not wait then. Until the case is gone it keeps a
/// result that no get has taken. Throws std::logic_error if the future is not valid.
template <class T, class F>
auto on_ready(const future<T>& of, F f, std::source_location at = std::source_location::current()) {
  static_assert(std::is_invocable_v<F&>, "fj::on_ready: the handler takes no arguments");
  return detail::ready_case<F>(detail::future_access::job(of), std::move(f), at);
}
template <class T, class F>
void on_ready(const future<T>&&, F) = delete;  // its result would be lost

/// A case of select: f() when d has passed since this call, if no other case has been chosen by then. If d is not
/// positive, or no number (NaN), the case is ready at once, like any other ready case. If the clock does not go so far,
/// the case is never ready.
template <class Rep, class Period, class F>
auto after(const std::chrono::duration<Rep, Period>& d, F f,
           std::source_location at = std::source_location::current()) {
  static_assert(std::is_invocable_v<F&>, "fj::after: the handler takes no arguments");
  return detail::after_case<F>(detail::deadline_after(d), std::move(f), at);
}

/// The case of select that runs if no other is ready: then select does not wait.
template <class F>
auto otherwise(F f, std::source_location at = std::source_location::current()) {
  static_assert(std::is_invocable_v<F&>, "fj::otherwise: the handler takes no arguments");
  return detail::otherwise_case<F>{std::move(f), at};
}

/// Waits until one of the cases is ready, sends or receives its value, runs its handler, and returns its index. If
/// several cases are ready, each is as likely as the others. Exactly one case takes effect: select does not change the
/// other channels. A case whose handle names no channel is never ready. select throws what the handler throws. A case
/// that has a name can be in several calls, one after the other, until it has sent its value.
///
/// Errors: channel_closed if the chosen case sends on a closed channel; std::bad_alloc if there is no memory to wait;
/// std::logic_error if a case has sent its value before; with wait_options as first argument, fj::cancelled if the
/// token is asked to stop first, and fj::timed_out if the time options.until comes first.
///
/// Cost without a wait: the locks of all channels and futures of the cases, sorted; no allocation. Source: selectgo in
/// Go's runtime/select.go.
template <class... Cases>
std::size_t select(const wait_options& options, Cases&&... cases) {
  static_assert((detail::is_otherwise<std::remove_cvref_t<Cases>> + ... + 0) <= 1,
                "fj::select: at most one fj::otherwise");
  constexpr bool waits = !(detail::is_otherwise<std::remove_cvref_t<Cases>> || ...);
  constexpr std::size_t n = sizeof...(Cases) - (waits ? 0 : 1);
  std::array<detail::select_case*, n> channels;
  detail::select_case** next = channels.data();
  (detail::collect(next, cases), ...);
  std::array<detail::select_place, n> places;
  const auto [end, chosen, closed] =
      detail::select_one(channels, places, waits, detail::limits_of(options, "fj::select"));
  detail::throw_if_limited(end);
  // The first, if one object stands for several cases.
  const bool by_case[] = {detail::is_chosen(chosen, cases)...};
  const auto index =
      static_cast<std::size_t>(std::find(std::begin(by_case), std::end(by_case), true) - std::begin(by_case));
  std::size_t each = 0;
  ((each++ == index ? detail::run_chosen(closed, cases) : void()), ...);
  return index;
}

template <class First, class... Cases>
  requires(!std::is_convertible_v<First, wait_options>)
std::size_t select(First&& first, Cases&&... cases) {
  return fj::select(wait_options{.at = first.made_at}, first, cases...);
}

/// A select whose cases are known when the program runs: any number of them, added one by one. The list keeps its
/// cases, for one select after another. on_receive, on_send, on_ready and after add a case as the functions of these
/// names, throw what those throw, and return its index. Not to be used by several strands at once.
///
///   fj::select_list any;
///   for (const auto& input : inputs) any.on_receive(input, [&](auto value) { ... });
///   const std::size_t which = any.select();
///
/// Cost: an allocation for each case that is added, and for each select a few more, for lists of all cases; else what
/// fj::select costs.
class select_list {
 public:
  select_list() = default;
  select_list(const select_list&) = delete;
  select_list& operator=(const select_list&) = delete;

  template <class T, class F>
  std::size_t on_receive(const channel<T>& c, F f, std::source_location at = std::source_location::current()) {
    static_assert(std::is_invocable_v<F&, std::optional<T>>,
                  "fj::select_list::on_receive: the handler takes a std::optional of the channel's values");
    return add<detail::receive_case<T, F>>(c, std::move(f), at);
  }
  template <class T, class F>
  std::size_t on_receive(const receive_channel<T>& c, F f, std::source_location at = std::source_location::current()) {
    return on_receive(detail::channel_access::whole(c), std::move(f), at);
  }

  /// Sends its value once; then it is never ready again.
  template <class T, class F>
  std::size_t on_send(const channel<T>& c, std::type_identity_t<T> value, F f,
                      std::source_location at = std::source_location::current()) {
    static_assert(std::is_invocable_v<F&>, "fj::select_list::on_send: the handler takes no arguments");
    return add<detail::send_case<T, F>>(c, std::move(value), std::move(f), at);
  }
  template <class T, class F>
  std::size_t on_send(const send_channel<T>& c, std::type_identity_t<T> value, F f,
                      std::source_location at = std::source_location::current()) {
    return on_send(detail::channel_access::whole(c), std::move(value), std::move(f), at);
  }

  /// Chosen once; then it is never ready again.
  template <class T, class F>
  std::size_t on_ready(const future<T>& of, F f, std::source_location at = std::source_location::current()) {
    static_assert(std::is_invocable_v<F&>, "fj::select_list::on_ready: the handler takes no arguments");
    return add<detail::ready_case<F>>(detail::future_access::job(of), std::move(f), at);
  }
  template <class T, class F>
  void on_ready(const future<T>&&, F) = delete;  // its result would be lost

  /// Ready from that time on; the time does not begin anew with each select.
  template <class Rep, class Period, class F>
  std::size_t after(const std::chrono::duration<Rep, Period>& d, F f,
                    std::source_location at = std::source_location::current()) {
    static_assert(std::is_invocable_v<F&>, "fj::select_list::after: the handler takes no arguments");
    return add<detail::after_case<F>>(detail::deadline_after(d), std::move(f), at);
  }

  /// The case is never ready again; other cases keep their indices. Throws std::out_of_range if there never was a case
  /// of that index. The case's own handler may call it.
  void remove(std::size_t index) {
    if (index >= cases_.size())
      throw std::out_of_range("fj::select_list::remove: the index is " + std::to_string(index) +
                              ", and the list has had " + std::to_string(cases_.size()) +
                              " cases; pass what the function that added the case returned");
    cases_[index].reset();
  }

  /// Waits until one of the cases is ready, does it, runs its handler, and returns its index, as fj::select. Throws
  /// std::logic_error if no case is left, as nothing would end the wait. Throws as fj::select otherwise.
  std::size_t select(wait_options options = {}) { return *select_one(true, options); }

  /// The same, if one is ready now; else nothing. Throws channel_closed and std::bad_alloc as fj::select, and what the
  /// handler throws.
  std::optional<std::size_t> try_select() { return select_one(false, {}); }

 private:
  struct any_case {
    virtual ~any_case() = default;
    virtual detail::select_case& on_channel() = 0;
    virtual bool is_over() const = 0;
    virtual void run(bool closed) = 0;
  };

  template <class Case>
  struct one_case final : any_case {
    template <class... Arguments>
    explicit one_case(Arguments&&... arguments) : of(std::forward<Arguments>(arguments)...) {}
    detail::select_case& on_channel() override { return of; }
    bool is_over() const override {
      if constexpr (detail::is_send<Case>) return of.sent;
      if constexpr (detail::is_ready<Case>) return of.was_chosen;
      return false;
    }
    void run(bool closed) override { of.run(closed); }
    Case of;
  };

  template <class Case, class... Arguments>
  std::size_t add(Arguments&&... arguments) {
    cases_.push_back(std::make_shared<one_case<Case>>(std::forward<Arguments>(arguments)...));
    return cases_.size() - 1;
  }

  std::optional<std::size_t> select_one(bool waits, const wait_options& options) {
    std::vector<detail::select_case*> ready;
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i != cases_.size(); ++i) {
      if (!cases_[i] || cases_[i]->is_over()) continue;
      ready.push_back(&cases_[i]->on_channel());
      indices.push_back(i);
    }
    if (waits && ready.empty())
      throw std::logic_error("fj::select_list::select: there is no case to wait for; add one, or call try_select");
    std::vector<detail::select_place> places(ready.size());
    const auto [end, chosen, closed] =
        detail::select_one(ready, places, waits, detail::limits_of(options, "fj::select_list::select"));
    detail::throw_if_limited(end);
    if (!chosen) return std::nullopt;
    const std::size_t index = indices[static_cast<std::size_t>(std::ranges::find(ready, chosen) - ready.begin())];
    const std::shared_ptr<any_case> kept = cases_[index];  // its handler may remove it
    kept->run(closed);
    return index;
  }

  std::vector<std::shared_ptr<any_case>> cases_;
};

/// Waits until one of the futures of that range is ready, and returns its index: of several, any. What
/// std::experimental calls when_any; for all of them, wait for one after the other. Throws std::logic_error if there is
/// none, or if one is not valid; fj::cancelled, fj::timed_out and std::bad_alloc as future::wait. Cost: memory for a
/// case, and a lock, for each future, sorted as for a select_list.
template <std::ranges::forward_range Futures>
std::size_t wait_any(const Futures& futures, wait_options options = {}) {
  std::deque<detail::select_case> cases;
  std::vector<detail::select_case*> all;
  for (const auto& each : futures) {
    detail::future_access::job(each).make_case(cases.emplace_back());
    all.push_back(&cases.back());
  }
  if (all.empty()) throw std::logic_error("fj::wait_any: there is no future to wait for");
  std::vector<detail::select_place> places(all.size());
  const auto [end, chosen, closed] = detail::select_one(all, places, true, detail::limits_of(options, "fj::wait_any"));
  detail::throw_if_limited(end);
  return static_cast<std::size_t>(std::ranges::find(all, chosen) - all.begin());
}

}}  // namespace fj::v0_4
