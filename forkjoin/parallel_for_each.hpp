// A loop over any sequence, and one whose body adds elements.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/parallel_for.hpp"
#include "forkjoin/scope.hpp"
#include "forkjoin/stop.hpp"
#include "forkjoin/with_scope.hpp"

namespace fj { inline namespace v0_4 {

template <class T>
class feeder;

namespace detail {

template <class T, class Body>
inline constexpr bool takes_moved = std::is_invocable_v<Body&, T, feeder<T>&>;
template <class T, class Body>
concept adds_elements = takes_moved<T, Body> || std::is_invocable_v<Body&, T&, feeder<T>&>;

/// Whether a loop that forks its elements goes on. If not, it leaves one out, which the join reports; all others
/// would be left out, too.
inline bool goes_on(scope& all) {
  if (!all.stopped()) return true;
  all.fork([] {});
  return false;
}

/// A loop whose body adds elements. What one call has added become children of one scope, but for the last one, which
/// follows in the same strand: so a chain of elements is a loop. The elements that the loop begins with are halved, if
/// they can be: else each theft would take one of them and the rest of the loop, which the robbed strand had to steal
/// back for its next element.
template <class T, class Body>
class fed_loop {
 public:
  explicit fed_loop(Body& body) noexcept : body_(body) {}

  template <class First, class Last>
  void start_all(scope& all, First first, Last last) {
    if constexpr (std::random_access_iterator<First> && std::sized_sentinel_for<Last, First>) {
      const auto run_one = [&](std::size_t n) { run_first(all, detail::advanced(first, n)); };
      fj::parallel_for(std::size_t{0}, detail::size_between(first, last), run_one, {.grain = 1});
    } else if constexpr (std::forward_iterator<First>) {
      for (; first != last && detail::goes_on(all); ++first)
        all.fork([this, &all, first] {
          if (!failed_.load(std::memory_order_relaxed)) run_at(all, first);
        });
    } else {
      for (; first != last && detail::goes_on(all); ++first) start(all, *first);
    }
  }

 private:
  void start(scope& all, T element) {
    all.fork([this, &all, element = std::move(element)]() mutable {
      if (!failed_.load(std::memory_order_relaxed)) run(all, std::move(element));
    });
  }

  // An element that the loop begins with, by a strand that is no child of the scope: so the scope does not see its
  // exception. An earlier one starts nonetheless, as parallel_for has it: its exception comes first.
  template <class It>
  void run_first(scope& all, It element) {
    if (!detail::goes_on(all)) return;
    try {
      run_at(all, element);
    } catch (...) {
      failed_.store(true, std::memory_order_relaxed);
      throw;
    }
  }

  template <class It>
  void run_at(scope& all, const It& element) {
    feeder<T> more;
    if constexpr (std::is_invocable_v<Body&, std::iter_reference_t<It>, feeder<T>&>) {
      static_cast<void>(std::invoke(body_, *element, more));
    } else {
      T copy(*element);
      call(copy, more);
    }
    run_added(all, more);
  }

  void run(scope& all, T element) {
    feeder<T> more;
    call(element, more);
    run_added(all, more);
  }

  void run_added(scope& all, feeder<T>& more) {
    for (;;) {
      if (more.added_.empty() || failed_.load(std::memory_order_relaxed)) return;
      if (!detail::goes_on(all)) return;
      T element = std::move(more.added_.back());
      more.added_.pop_back();
      for (auto&& each : more.added_) start(all, T(std::move(each)));
      more.added_.clear();
      call(element, more);
    }
  }

  void call(T& element, feeder<T>& more) {
    if constexpr (takes_moved<T, Body>) {
      static_cast<void>(std::invoke(body_, std::move(element), more));
    } else {
      static_cast<void>(std::invoke(body_, element, more));
    }
  }

  Body& body_;
  // Relaxed, all of it: to be seen soon is enough, and the exception takes another path.
  std::atomic<bool> failed_ = false;
};

}  // namespace detail

/// What a body of parallel_for_each adds elements by.
template <class T>
class feeder {
 public:
  /// The loop calls its body for that element, too, once this call of the body has returned. Throws std::bad_alloc. Not
  /// to be called by two strands at once.
  void add(T element) { added_.push_back(std::move(element)); }

 private:
  template <class U, class Body>
  friend class detail::fed_loop;

  std::vector<T> added_;
};

/// Calls body(element) for all elements, possibly in parallel. As parallel_for where the iterators have random access;
/// else a fork each, for bodies that take a few microseconds. An element of a sequence that can be read once is made
/// from *first, so copied unless that is an rvalue, and moved into the body, or lent to a body that takes a reference.
/// options.grain counts only where the iterators have random access and the body adds nothing.
///
/// body(element, feeder<T>&), where T is the type of the elements without references: the body also adds elements, for
/// which it is called, too; for graphs that are found on the way, and trees. The body gets the loop's first elements
/// where they are, and added ones moved, or, if it takes a reference, where they wait. T must be move constructible. No
/// order is promised then.
///
/// Errors: what the body throws; of several exceptions that of the earliest element, if none is added. Elements that
/// have not started do not start then. fj::cancelled if options.stop was asked to stop before all had started. Outside
/// a runtime the call enters the default one.
template <std::input_iterator First, std::sentinel_for<First> Last, class Body>
void parallel_for_each(First first, Last last, Body&& body, const loop_options& options = {}) {
  using value = std::iter_value_t<First>;
  static_assert(
      !(std::forward_iterator<First> && detail::packed_bits<First>),
      "fj::parallel_for_each: std::vector<bool> shares words: neighbours cannot be written at the same time; use "
      "a std::vector<char>, or, to read only, std::as_const");
  const stop_token stop = options.stop ? *options.stop : stop_token();
  if constexpr (detail::adds_elements<value, Body>) {
    detail::fed_loop<value, std::remove_reference_t<Body>> loop(body);  // outlives the scope
    with_scope(stop, [&](scope& all) { loop.start_all(all, std::move(first), std::move(last)); });
  } else if constexpr (std::random_access_iterator<First> && std::sized_sentinel_for<Last, First>) {
    fj::parallel_for(first, last, body, options);
  } else if constexpr (std::forward_iterator<First>) {
    with_scope(stop, [&](scope& all) {
      for (; first != last && detail::goes_on(all); ++first)
        all.fork([first, &body] { static_cast<void>(std::invoke(body, *first)); });
    });
  } else {
    with_scope(stop, [&](scope& all) {
      for (; first != last && detail::goes_on(all); ++first)
        all.fork([element = value(*first), &body]() mutable {
          if constexpr (std::is_invocable_v<Body&, value>) {
            static_cast<void>(std::invoke(body, std::move(element)));
          } else {
            static_cast<void>(std::invoke(body, element));
          }
        });
    });
  }
}

template <std::ranges::input_range Range, class Body>
void parallel_for_each(Range&& range, Body&& body, const loop_options& options = {}) {
  fj::parallel_for_each(std::ranges::begin(range), std::ranges::end(range), body, options);
}

}}  // namespace fj::v0_4
