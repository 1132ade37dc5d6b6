// How ranges that are none of the library's are divided: by fork_join, as long as they and the partitioner want it.
#pragma once

#include "../blocked_range.h"
#include "context.h"

#include <forkjoin/fork_join.hpp>
#include <forkjoin/parallel_for.hpp>
#include <forkjoin/parallel_for_blocks.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <vector>

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

/// The second half. In proportion, one to one, where oneTBB's partitioner asks for that and the range can.
template <class Partitioner, class Range>
Range second_half(Range& range) {
  constexpr bool in_proportion =
      std::same_as<Partitioner, static_partitioner> || std::same_as<Partitioner, affinity_partitioner>;
  if constexpr (in_proportion && std::is_constructible_v<Range, Range&, proportional_split&>) {
    proportional_split by(1, 1);
    return Range(range, by);
  } else {
    return Range(range, split());
  }
}

/// Calls part(range) at the end of the levels: with a simple_partitioner for what is left of it, piece by piece.
template <class Partitioner, class Range, class Part>
void at_last_level(Range& range, const Part& part) {
  if constexpr (std::same_as<Partitioner, simple_partitioner>) {
    if (range.is_divisible()) {
      std::vector<Range> rest{range};
      while (!rest.empty()) {
        Range each(rest.back());
        rest.pop_back();
        while (each.is_divisible()) rest.push_back(Range(each, split()));
        part(each);
      }
      return;
    }
  }
  part(range);
}

/// For a part, as oneTBB's tasks have it: what is mutable in a copy is this part's alone.
template <class Body, class Range>
void call_copy(const Body& body, Range& part, task_group_context& context) {
  call_body(context, [&] {
    const Body own(body);
    own(part);
  });
}

template <class Partitioner, class Range, class Body>
void divide(Range& range, const Body& body, int left, task_group_context& context) {
  if (left == 0 || !range.is_divisible())
    return fj_detail::at_last_level<Partitioner>(range,
                                                 [&](Range& part) { fj_detail::call_copy(body, part, context); });
  if (context.is_group_execution_cancelled()) throw fj::cancelled();
  Range right = second_half<Partitioner>(range);
  fj::fork_join([&] { divide<Partitioner>(range, body, left - 1, context); },
                [&] { divide<Partitioner>(right, body, left - 1, context); });
}

/// Calls part(i) for [0, parts), in a section for each P, each part once. A P takes those of its own section first, in
/// each loop the same; then those that are left of others. Source: the mailboxes of Acar, Blelloch, Blumofe, "The data
/// locality of work stealing" (2000), as a rule of which thief takes what.
template <class Part>
void replay_parts(std::size_t parts, task_group_context& context, const Part& part) {
  const std::size_t sections = std::min(procs(), parts);
  struct alignas(64) section {
    std::size_t begin, end;
    std::atomic<std::size_t> taken{0};
    bool run_next(const Part& run) {
      if (begin + taken.load(std::memory_order_relaxed) >= end) return false;
      const std::size_t mine = begin + taken.fetch_add(1, std::memory_order_relaxed);
      if (mine >= end) return false;
      run(mine);
      return true;
    }
  };
  std::vector<section> all(sections);
  for (std::size_t i = 0; i != sections; ++i) {
    all[i].begin = parts / sections * i + std::min(i, parts % sections);
    all[i].end = all[i].begin + parts / sections + (i < parts % sections);
  }
  const auto own = [sections] { return static_cast<std::size_t>(fj::this_proc()) % sections; };
  fj::parallel_for(std::size_t{0}, sections,
                   [&](std::size_t) {
                     for (std::size_t tried = 0; tried != sections;)
                       tried = all[(own() + tried) % sections].run_next(part) ? 0 : tried + 1;
                   },
                   {.grain = 1, .stop = cuts_loop(context)});
}

template <class Partitioner>
inline constexpr bool replays =
    std::same_as<Partitioner, static_partitioner> || std::same_as<Partitioner, affinity_partitioner>;

/// Into how many parts such a partitioner divides so many units.
template <class Partitioner>
std::size_t parts_of(std::size_t units) {
  constexpr std::size_t parts_a_proc = std::same_as<Partitioner, static_partitioner> ? 1 : 8;
  return std::min(units, parts_a_proc * procs());
}

/// A blocked_range by the library's own loops: blocks of its grain size, or of several such where the loop is adaptive.
template <class Partitioner, class Value, class Body>
void divide_plain(const blocked_range<Value>& range, const Body& body, task_group_context& context) {
  const std::size_t n = range.size();
  const std::size_t grain = std::clamp(range.grainsize(), std::size_t{1}, std::max(n, std::size_t{1}));
  [[maybe_unused]] const std::size_t units = n / grain + (n % grain != 0);
  const Value first = range.begin();
  const auto at = [&](std::size_t i) { return first + static_cast<decltype(first - first)>(i); };
  // As oneTBB gives it: a body may take a range that is not const.
  const auto run = [&](std::size_t begin, std::size_t end) {
    blocked_range<Value> part(at(begin), at(end), grain);
    fj_detail::call_copy(body, part, context);
  };
  const fj::stop_token* const stop = cuts_loop(context);
  if constexpr (replays<Partitioner>) {
    const std::size_t parts = parts_of<Partitioner>(units);
    const auto begin_of = [&](std::size_t i) {
      return std::min(n, (units / parts * i + std::min(i, units % parts)) * grain);
    };
    replay_parts(parts, context, [&](std::size_t i) { run(begin_of(i), begin_of(i + 1)); });
  } else if constexpr (std::same_as<Partitioner, simple_partitioner>) {
    fj::parallel_for_blocks(std::size_t{0}, n, run, {.grain = grain, .stop = stop});
  } else {
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
      divide<Partitioner>(mine, body, levels<Partitioner>(), in);
    }
  });
}

}}  // namespace tbb::fj_detail
