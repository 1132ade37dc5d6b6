#pragma once

#include "detail/divide.h"

#include <forkjoin/loops/own_copy.hpp>
#include <forkjoin/parallel_for_blocks.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <stdexcept>
#include <string>

namespace tbb {

// Ranges.

template <class Range, class Body>
void parallel_for(const Range& range, const Body& body) {
  fj_detail::for_range<auto_partitioner>(range, body, nullptr);
}
template <class Range, class Body, fj_detail::partitioner Partitioner>
void parallel_for(const Range& range, const Body& body, Partitioner&&) {
  fj_detail::for_range<std::remove_cvref_t<Partitioner>>(range, body, nullptr);
}
template <class Range, class Body>
void parallel_for(const Range& range, const Body& body, task_group_context& context) {
  fj_detail::for_range<auto_partitioner>(range, body, &context);
}
template <class Range, class Body, fj_detail::partitioner Partitioner>
void parallel_for(const Range& range, const Body& body, Partitioner&&, task_group_context& context) {
  fj_detail::for_range<std::remove_cvref_t<Partitioner>>(range, body, &context);
}

// Indices.

namespace fj_detail {

// Not inlined: of a constant step g++ 12 would warn of the string's memory.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_step(const std::string& step) {
  throw_error(std::invalid_argument("tbb::parallel_for: the step is " + step + "; set it to 1 or more"));
}

template <class Partitioner = auto_partitioner, class Index, class F>
void for_indices(Index first, Index last, Index step, const F& f, task_group_context* context) {
  if (step < 1) refuse_step(std::to_string(step));
  algorithm(context, [&](task_group_context& in) {
    using count = std::make_unsigned_t<Index>;
    const auto stride = static_cast<count>(step), from = static_cast<count>(first);
    const auto distance = static_cast<count>(first < last ? static_cast<count>(last) - from : 0);
    const std::size_t n = std::size_t{distance} / stride + (distance % stride != 0);
    const auto run = [&](std::size_t begin, std::size_t end) {
      call_body(in, [&] {
        fj::detail::with_own_copy<Index>(f, [&](auto& own) {
          for (std::size_t i = begin; i != end; ++i)
            std::invoke(own, static_cast<Index>(from + static_cast<count>(i) * stride));
        });
      });
    };
    if constexpr (replays<Partitioner>) {
      const std::size_t parts = parts_of<Partitioner>(n);
      const auto begin_of = [&](std::size_t i) { return n / parts * i + std::min(i, n % parts); };
      if (n != 0) replay_parts(parts, in, [&](std::size_t i) { run(begin_of(i), begin_of(i + 1)); });
    } else {
      fj::parallel_for_blocks(std::size_t{0}, n, run, {.stop = cuts_loop(in)});
    }
  });
}

}  // namespace fj_detail

template <std::integral Index, class F>
void parallel_for(Index first, Index last, const F& f) {
  fj_detail::for_indices(first, last, Index(1), f, nullptr);
}
template <std::integral Index, class F, fj_detail::partitioner Partitioner>
void parallel_for(Index first, Index last, const F& f, Partitioner&&) {
  fj_detail::for_indices<std::remove_cvref_t<Partitioner>>(first, last, Index(1), f, nullptr);
}
template <std::integral Index, class F>
void parallel_for(Index first, Index last, const F& f, task_group_context& context) {
  fj_detail::for_indices(first, last, Index(1), f, &context);
}
template <std::integral Index, class F, fj_detail::partitioner Partitioner>
void parallel_for(Index first, Index last, const F& f, Partitioner&&, task_group_context& context) {
  fj_detail::for_indices<std::remove_cvref_t<Partitioner>>(first, last, Index(1), f, &context);
}
template <std::integral Index, class F>
  requires(!fj_detail::partitioner<F>)
void parallel_for(Index first, Index last, Index step, const F& f) {
  fj_detail::for_indices(first, last, step, f, nullptr);
}
template <std::integral Index, class F, fj_detail::partitioner Partitioner>
void parallel_for(Index first, Index last, Index step, const F& f, Partitioner&&) {
  fj_detail::for_indices<std::remove_cvref_t<Partitioner>>(first, last, step, f, nullptr);
}
template <std::integral Index, class F>
void parallel_for(Index first, Index last, Index step, const F& f, task_group_context& context) {
  fj_detail::for_indices(first, last, step, f, &context);
}
template <std::integral Index, class F, fj_detail::partitioner Partitioner>
void parallel_for(Index first, Index last, Index step, const F& f, Partitioner&&, task_group_context& context) {
  fj_detail::for_indices<std::remove_cvref_t<Partitioner>>(first, last, step, f, &context);
}

}  // namespace tbb
