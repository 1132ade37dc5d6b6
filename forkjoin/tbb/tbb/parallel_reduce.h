#pragma once

#include "detail/divide.h"

#include <atomic>
#include <concepts>
#include <functional>
#include <optional>
#include <utility>

namespace tbb {

namespace fj_detail {

// The left part goes on with the body that there is. So does the right part, if it begins after the end of the left
// one; if a thief has it earlier, or always, it has a body that is split off: always before either part has run, so
// that the bodies depend on the range alone. So each join is that of two neighbours.
template <class Partitioner, bool AlwaysSplits, class Range, class Body>
void reduce(Range& range, Body& body, int left, task_group_context& context) {
  if (left == 0 || !range.is_divisible())
    return fj_detail::at_last_level<Partitioner>(
        range, [&](Range& part) { call_body(context, [&] { body(std::as_const(part)); }); });
  if (context.is_group_execution_cancelled()) throw fj::cancelled();
  Range right = second_half<Partitioner>(range);
  std::optional<Body> second;
  if constexpr (AlwaysSplits) second.emplace(body, split());  // from one that has not run
  std::atomic<bool> first_is_over = false;
  fj::fork_join(
      [&] {
        reduce<Partitioner, AlwaysSplits>(range, body, left - 1, context);
        // release: pairs with the acquire below, so that the right part finds the body as it is now
        first_is_over.store(true, std::memory_order_release);
      },
      [&] {
        if (!AlwaysSplits && !first_is_over.load(std::memory_order_acquire)) second.emplace(body, split());
        reduce<Partitioner, AlwaysSplits>(right, second ? *second : body, left - 1, context);
      });
  if (second) body.join(*second);
}

template <class Partitioner, bool AlwaysSplits = false, class Range, class Body>
void reduce_range(const Range& range, Body& body, task_group_context* context) {
  if (range.empty()) return;
  algorithm(context, [&](task_group_context& in) {
    Range mine = range;
    reduce<Partitioner, AlwaysSplits>(mine, body, levels<Partitioner>(), in);
  });
}

/// A body of functions.
template <class Range, class Value, class F, class Join>
class functions {
 public:
  functions(const Value& identity, const F& f, const Join& join)
      : identity_(identity), value_(identity), f_(f), join_(join) {}
  functions(functions& other, split)
      : identity_(other.identity_), value_(other.identity_), f_(other.f_), join_(other.join_) {}

  void operator()(const Range& range) { value_ = std::invoke(f_, range, std::move(value_)); }
  void join(functions& right) { value_ = std::invoke(join_, std::move(value_), std::move(right.value_)); }
  Value take() { return std::move(value_); }

 private:
  const Value& identity_;
  Value value_;
  const F& f_;
  const Join& join_;
};

template <class Partitioner, bool AlwaysSplits = false, class Range, class Value, class F, class Join>
Value reduce_by(const Range& range, const Value& identity, const F& f, const Join& join, task_group_context* context) {
  functions<Range, Value, F, Join> body(identity, f, join);
  reduce_range<Partitioner, AlwaysSplits>(range, body, context);
  return body.take();
}

template <class T>
concept deterministic_partitioner = std::same_as<std::remove_cvref_t<T>, simple_partitioner> ||
                                    std::same_as<std::remove_cvref_t<T>, static_partitioner>;

template <class Body, class Range>
concept reduction_body = requires(Body& body, const Range& range) {
  body(range);
  body.join(body);
};

}  // namespace fj_detail

// With a body that is split and joined.

template <class Range, fj_detail::reduction_body<Range> Body>
void parallel_reduce(const Range& range, Body& body) {
  fj_detail::reduce_range<auto_partitioner>(range, body, nullptr);
}
template <class Range, fj_detail::reduction_body<Range> Body, fj_detail::partitioner Partitioner>
void parallel_reduce(const Range& range, Body& body, Partitioner&&) {
  fj_detail::reduce_range<std::remove_cvref_t<Partitioner>>(range, body, nullptr);
}
template <class Range, fj_detail::reduction_body<Range> Body>
void parallel_reduce(const Range& range, Body& body, task_group_context& context) {
  fj_detail::reduce_range<auto_partitioner>(range, body, &context);
}
template <class Range, fj_detail::reduction_body<Range> Body, fj_detail::partitioner Partitioner>
void parallel_reduce(const Range& range, Body& body, Partitioner&&, task_group_context& context) {
  fj_detail::reduce_range<std::remove_cvref_t<Partitioner>>(range, body, &context);
}

// With functions.

template <class Range, class Value, class F, class Join>
Value parallel_reduce(const Range& range, const Value& identity, const F& f, const Join& join) {
  return fj_detail::reduce_by<auto_partitioner>(range, identity, f, join, nullptr);
}
template <class Range, class Value, class F, class Join, fj_detail::partitioner Partitioner>
Value parallel_reduce(const Range& range, const Value& identity, const F& f, const Join& join, Partitioner&&) {
  return fj_detail::reduce_by<std::remove_cvref_t<Partitioner>>(range, identity, f, join, nullptr);
}
template <class Range, class Value, class F, class Join>
Value parallel_reduce(const Range& range, const Value& identity, const F& f, const Join& join,
                      task_group_context& context) {
  return fj_detail::reduce_by<auto_partitioner>(range, identity, f, join, &context);
}
template <class Range, class Value, class F, class Join, fj_detail::partitioner Partitioner>
Value parallel_reduce(const Range& range, const Value& identity, const F& f, const Join& join, Partitioner&&,
                      task_group_context& context) {
  return fj_detail::reduce_by<std::remove_cvref_t<Partitioner>>(range, identity, f, join, &context);
}

// Divided as far as the range is, so the result depends on the range alone.

template <class Range, fj_detail::reduction_body<Range> Body>
void parallel_deterministic_reduce(const Range& range, Body& body) {
  fj_detail::reduce_range<simple_partitioner, true>(range, body, nullptr);
}
template <class Range, fj_detail::reduction_body<Range> Body, fj_detail::deterministic_partitioner Partitioner>
void parallel_deterministic_reduce(const Range& range, Body& body, Partitioner&&) {
  fj_detail::reduce_range<std::remove_cvref_t<Partitioner>, true>(range, body, nullptr);
}
template <class Range, fj_detail::reduction_body<Range> Body>
void parallel_deterministic_reduce(const Range& range, Body& body, task_group_context& context) {
  fj_detail::reduce_range<simple_partitioner, true>(range, body, &context);
}
template <class Range, fj_detail::reduction_body<Range> Body, fj_detail::deterministic_partitioner Partitioner>
void parallel_deterministic_reduce(const Range& range, Body& body, Partitioner&&, task_group_context& context) {
  fj_detail::reduce_range<std::remove_cvref_t<Partitioner>, true>(range, body, &context);
}
template <class Range, class Value, class F, class Join>
Value parallel_deterministic_reduce(const Range& range, const Value& identity, const F& f, const Join& join) {
  return fj_detail::reduce_by<simple_partitioner, true>(range, identity, f, join, nullptr);
}
template <class Range, class Value, class F, class Join, fj_detail::deterministic_partitioner Partitioner>
Value parallel_deterministic_reduce(const Range& range, const Value& identity, const F& f, const Join& join,
                                    Partitioner&&) {
  return fj_detail::reduce_by<std::remove_cvref_t<Partitioner>, true>(range, identity, f, join, nullptr);
}
template <class Range, class Value, class F, class Join>
Value parallel_deterministic_reduce(const Range& range, const Value& identity, const F& f, const Join& join,
                                    task_group_context& context) {
  return fj_detail::reduce_by<simple_partitioner, true>(range, identity, f, join, &context);
}
template <class Range, class Value, class F, class Join, fj_detail::deterministic_partitioner Partitioner>
Value parallel_deterministic_reduce(const Range& range, const Value& identity, const F& f, const Join& join,
                                    Partitioner&&, task_group_context& context) {
  return fj_detail::reduce_by<std::remove_cvref_t<Partitioner>, true>(range, identity, f, join, &context);
}

}  // namespace tbb
