// The recording way: a kernel's own code, run serially, tells what it forks and what it works. A policy like those of
// bench/harness/ways/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/harness/ways/results.hpp"
#include "bench/harness/work.hpp"
#include "bench/simulate/recorder.hpp"
#include "forkjoin/loops/blocks.hpp"

namespace simulate {

/// Only within run.
class recording {
 public:
  static constexpr bool is_serial = false;

  /// A fork of more than two closures is a loop of forks.
  template <class... F>
  static auto fork(F&&... f) {
    return bench::ways::fork_with_results([](auto&&... g) { fork_in_order<(sizeof...(g) > 2)>(g...); }, f...);
  }

  /// The children of a node, as a loop of forks, too.
  template <class T, class Body>
  static T children(int count, const T& init, const Body& body) {
    return add_iterations(0, count, init, body);
  }

  /// The same without results.
  template <class Body>
  static void children(long count, const Body& body) {
    add_iterations(0, static_cast<int>(count), nothing(), [&](int i) {
      body(i);
      return nothing();
    });
  }

  /// The children as nested forks of two, which the library makes of them by other policies than continuations.
  template <class Body>
  static void nested_children(long first, long last, const Body& body) {
    if (last - first == 1) return body(first);
    const node left = call([&] { body(first); });
    const node right = call([&] { nested_children(first + 1, last, body); });
    state_->to.forks(left, right, {});
  }

  /// for_blocks in forkjoin/loops/ordered_parts.hpp divides a loop in the same way.
  template <class Body>
  static void loop(long first, long last, long grain, const Body& body) {
    if (first >= last) return;
    const fj::detail::blocks all(static_cast<std::size_t>(last - first), static_cast<std::size_t>(grain));
    const auto count = static_cast<std::uint32_t>(all.count());
    halve({count, 0, count / 2, count}, [&](std::size_t block) {
      body(first + static_cast<long>(all.begin(block)), first + static_cast<long>(all.end(block)));
    });
  }

  static void work(bench::unit of, double amount) { state_->to.works(ps(state_->of.nanoseconds(of) * amount)); }

  /// What f does, with work that takes as long as these say.
  template <class F>
  static recorded run(const units& of, const F& f) {
    state now{recorder(), of};
    state_ = &now;
    const node root = call(f);
    state_ = nullptr;
    return now.to.take(root);
  }

 private:
  struct state {
    recorder to;
    const units& of;
  };

  struct nothing {
    nothing operator+(nothing) const { return {}; }
  };

  template <class F>
  static node call(const F& f) {
    state_->to.begin();
    f();
    return state_->to.end();
  }

  template <bool is_loop, class F, class... More>
  static void fork_in_order(F& f, More&... more) {
    if constexpr (sizeof...(More) == 0) {
      f();
    } else {
      const node left = call(f);
      const node right = call([&] { fork_in_order<is_loop>(more...); });
      state_->to.forks(left, right, {}, is_loop ? sizeof...(More) : 0);
    }
  }

  template <class T, class Body>
  static T add_iterations(int first, int last, const T& init, const Body& body) {
    if (first == last) return init;
    if (last - first == 1) return init + body(first);
    T one{}, others{};
    const node left = call([&] { one = body(first); });
    const node right = call([&] { others = add_iterations(first + 1, last, T{}, body); });
    state_->to.forks(left, right, {}, static_cast<std::uint32_t>(last - first - 1));
    return init + one + others;
  }

  template <class Body>
  static void halve(const loop_parts& part, const Body& body) {
    const auto [size, first, middle, last] = part;
    if (last - first == 1) return body(first);
    const node left = call([&] { halve({size, first, first + (middle - first) / 2, middle}, body); });
    const node right = call([&] { halve({size, middle, middle + (last - middle) / 2, last}, body); });
    state_->to.forks(left, right, part);
  }

  static inline thread_local state* state_ = nullptr;
};

}  // namespace simulate
