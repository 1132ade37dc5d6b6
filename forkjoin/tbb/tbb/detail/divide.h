// How ranges that are none of the library's are divided: by fork_join, as long as they and the partitioner want it.
#pragma once

#include "../blocked_range.h"
#include "context.h"

#include <forkjoin/fork_join.hpp>
#include <forkjoin/parallel_for_blocks.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace tbb { namespace fj_detail {

template <class T>
inline constexpr bool is_partitioner = false;
template <>
inline constexpr bool is_partitioner<simple_partitioner> = true;
template <>
inline constexpr bool is_partitioner<auto_partitioner> = true;
template <>
inline constexpr bool is_partitioner<static_partitioner> = true;
template <>
inline constexpr bool is_partitioner<affinity_partitioner> = true;

template <class T>
concept partitioner = is_partitioner<std::remove_cvref_t<T>>;

template <class T>
inline constexpr bool is_plain_range = false;
template <class Value>
inline constexpr bool is_plain_range<blocked_range<Value>> = true;

/// Into how many levels of halves: all, or as many as give each P enough parts for its share.
template <class Partitioner>
int levels() {
  if constexpr (std::same_as<Partitioner, simple_partitioner>) return 1'000;
  constexpr std::size_t parts_a_proc = std::same_as<Partitioner, static_partitioner> ? 1 : 16;
  return static_cast<int>(std::bit_width(parts_a_proc * procs() - 1));
}

template <class Range, class Body>
void divide(Range& range, const Body& body, int left, task_group_context& context) {
  if (left == 0 || !range.is_divisible()) {
    call_body(context, [&] { body(range); });
    return;
  }
  if (context.is_group_execution_cancelled()) throw fj::cancelled();
  Range right(range, split());
  fj::fork_join([&] { divide(range, body, left - 1, context); }, [&] { divide(right, body, left - 1, context); });
}

/// A blocked_range by the library's own loops: blocks of its grain size, or of several such where the loop is adaptive.
template <class Partitioner, class Value, class Body>
void divide_plain(const blocked_range<Value>& range, const Body& body, task_group_context& context) {
  const std::size_t n = range.size(), grain = range.grainsize() == 0 ? 1 : range.grainsize();
  const Value first = range.begin();
  const auto at = [&](std::size_t i) { return first + static_cast<decltype(first - first)>(i); };
  // As oneTBB gives it: a body may take a range that is not const.
  const auto run = [&](std::size_t begin, std::size_t end) {
    blocked_range<Value> part(at(begin), at(end), grain);
    call_body(context, [&] { body(part); });
  };
  const fj::stop_token* const stop = cuts_loop(context);
  if constexpr (std::same_as<Partitioner, simple_partitioner> || std::same_as<Partitioner, static_partitioner>) {
    const std::size_t part = (n + procs() - 1) / procs();
    const std::size_t block = std::same_as<Partitioner, static_partitioner> && part > grain ? part : grain;
    fj::parallel_for_blocks(std::size_t{0}, n, run, {.grain = block, .stop = stop});
  } else {
    const std::size_t units = (n + grain - 1) / grain;
    fj::parallel_for_blocks(std::size_t{0}, units,
                            [&](std::size_t b, std::size_t e) { run(b * grain, std::min(n, e * grain)); },
                            {.stop = stop});
  }
}

template <class Partitioner, class Range, class Body>
void for_range(const Range& range, const Body& body, task_group_context* context) {
  if (range.empty()) return;
  algorithm(context, [&](task_group_context& in) {
    if constexpr (is_plain_range<Range>) {
      divide_plain<Partitioner>(range, body, in);
    } else {
      Range mine = range;
      divide(mine, body, levels<Partitioner>(), in);
    }
  });
}

}}  // namespace tbb::fj_detail
