// A loop over numbers, split among strands: all loops, and the algorithms that are loops, run on it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "forkjoin/abi/os/clock.hpp"
#include "forkjoin/abi/os/ticks.hpp"
#include "forkjoin/abi/tuning.hpp"
#include "forkjoin/detail/function_ref.hpp"
#ifndef FORKJOIN_SERIAL
#include "forkjoin/detail/quiet.hpp"
#include "forkjoin/loops/forked_sections.hpp"
#endif
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/blocks.hpp"
#include "forkjoin/loops/chunks.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/loops/sections.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/serial/observer.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// The body of any loop, for all numbers from begin to end: what a loop over numbers calls is a body made of the
/// user's.
using loop_body = function_ref<void(std::size_t begin, std::size_t end)>;

/// Calls body(begin, end) for consecutive parts of a range of numbers. For use inside a runtime.
class split_loop {
 public:
  split_loop(loop_body body, const loop_options& options, pace& known) noexcept
      : body_(body), grain_(options.grain), parts_(options.stop), pace_(known) {}

  /// Runs the loop over [0, n), n > 0. With a grain it forks a tree of blocks that depends on n and the grain alone;
  /// without, the strand begins alone, and splits lazily once the loop proves long.
  void run(std::size_t n) {
    if (grain_ != 0) {
      const blocks all(n, grain_);
      const auto run_block = [&, this](std::size_t block) { body_(all.begin(block), all.end(block)); };
      for_blocks(0, all.count(), parts_, run_block);
    } else {
      begin_alone(n);
    }
  }

  /// Runs the elements before `middle`, while a thief may take all others. True if one did, and they are done; false if
  /// they are left to the caller.
  bool run_or_share(std::size_t first, std::size_t middle, std::size_t n) {
    return detail::fork_quietly([=, this] { run_part(first, middle); }, [=, this] { share(middle, n); });
  }

 private:
  // A loop of a few microseconds is done before a thief could help. So its strand does part after part, and forks all
  // that comes after the part, without asking for a thief if a worker looks for work already. That worker takes the
  // rest if a part takes long, as a single element may.
  void begin_alone(std::size_t n) {
    if (n == 1) return run_part(0, 1);
    lone_parts parts(n, pace_);
    if (parts.worth_sharing_at_once()) {
      share(0, n);
      return static_cast<void>(parts.end(false));
    }
    for (std::size_t first = 0;;) {
      const std::size_t middle =
          first + (std::min)(parts.size() + up_to_line(first + parts.size(), parts.size()), n - first);
      if (middle == n) {
        run_part(first, n);
        return static_cast<void>(parts.end(true));
      }
      if (run_or_share(first, middle, n)) return static_cast<void>(parts.end(false));
      if (parts.worth_sharing(first, middle, os::rough_ns())) {
        share(middle, n);
        return static_cast<void>(parts.end(false));
      }
      first = middle;
    }
  }

  void run_part(std::size_t first, std::size_t last) {
    parts_.run(first, [=, this] { body_(first, last); });
  }

  // At the start the time for an element is unknown, and may be long. So the strand forks a few sections for each P
  // at once, even if no worker is hungry: one that has just finished the loop before may be about to look for work.
  void share(std::size_t first, std::size_t last) {
    const unsigned p = procs();
    if (p == 1) return run_section(first, last);
    const unsigned count = sections::of_elements(last - first, p);
    const auto run = [=, this](unsigned number) {
      run_section(begin_of(first, last, number, count), begin_of(first, last, number + 1, count));
    };
    forked_sections(count, p, run).run();
  }

  // While the first element of a section runs, a thief may take all others, but is to look for another section first.
  void run_section(std::size_t first, std::size_t last) {
    if (last - first == 1) return run_part(first, last);
    const auto rest = [=, this] { split_lazily(first + 1, last, adaptive_chunk()); };
    if (!detail::fork_quietly([=, this] { run_part(first, first + 1); }, rest)) rest();
  }

  // Lazy binary splitting: the strand works in chunks, and forks half of what is left only when a worker is hungry.
  // Tzannes, Caragea, Barua, Vishkin, "Lazy binary-splitting: a run-time adaptive work-stealing scheduler", 2010. Their
  // strand looks at its own deque instead, and its chunk is given.
  void split_lazily(std::size_t first, std::size_t last, adaptive_chunk chunk) {
    chunk.start();
    while (true) {
      const std::size_t n = (std::min)(chunk.size() + up_to_line(first, chunk.size()), last - first);
      run_part(first, first + n);
      first += n;
      if (first == last) return;
      give_way_if_asked();
      chunk.adapt();
      if (last - first > chunk.size() && hungry()) break;
    }
    const std::size_t middle = halfway(first, last);
    fork_join([=, this] { split_lazily(first, middle, chunk); }, [=, this] { split_lazily(middle, last, chunk); });
  }

  // Parts of many elements begin at multiples of what a cache line may hold. After a first part of one element all
  // vectors would lie across lines otherwise, which made a loop 4 % slower.
  static constexpr std::size_t line = 64;

  static std::size_t up_to_line(std::size_t at, std::size_t chunk) noexcept {
    return chunk < line / 4 ? 0 : -at % line;
  }

  // Where that one of so many sections begins; the last ends at `last`.
  static std::size_t begin_of(std::size_t first, std::size_t last, std::size_t number, std::size_t count) noexcept {
    if (number == 0) return first;
    if (number == count) return last;
    const std::size_t n = last - first;
    const std::size_t at = first + n / count * number + n % count * number / count;
    return at + up_to_line(at, n / count / line);
  }

  static std::size_t halfway(std::size_t first, std::size_t last) noexcept {
    const std::size_t half = (last - first) / 2;
    return first + half + up_to_line(first + half, half / line);
  }

  const loop_body body_;
  const std::size_t grain_;
  ordered_parts parts_;
  pace& pace_;
};

/// How many elements the first part of a loop has that is expected to be brief.
inline constexpr std::size_t first_part = 16;

/// After a loop that was expected to be brief.
[[gnu::cold, gnu::noinline]] inline void forget_slow_loop(pace& known) noexcept { known.forget(detail::slow_for()); }

[[gnu::always_inline]] inline void end_brief_part(pace& known) noexcept {
  if (detail::was_slow()) [[unlikely]]
    detail::forget_slow_loop(known);
}

/// What the strand that began a loop is to do itself, as one part, before it calls end.
struct rest_of_loop {
  std::size_t begin;        // the others have been done: all if this is n
  std::uint64_t begun = 0;  // os::rough_ns at the begin of the loop, if it is to be timed; else 0

  [[gnu::always_inline]] void end(std::size_t n, pace& known) const {
    if (begun != 0 && !os::takes_turns()) [[unlikely]]  // a schedule is not to depend on those before
      known.learn_more(n, os::rough_ns() - begun);
    detail::end_brief_part(known);
  }
};

/// Runs a loop that may have to fork; leaves the rest to the caller if the loop is expected to be brief, when the first
/// part, of First elements or one if there are no more, has been done; and the whole loop if no fork can be stolen.
/// Outside a runtime it enters the default one.
template <std::size_t First>
[[gnu::noinline]] rest_of_loop begin_loop_slow(std::size_t n, loop_options options, pace& known, loop_body body) {
  const bool is_plain = options.grain == 0 && !options.stop;
  const unsigned p = procs_for_loop();
  if (p == 1 && is_plain) {
    if (!known.wants_more()) return {.begin = 0};
    detail::answer();  // so that begin_brief_part finds that nobody asks
    return {.begin = 0, .begun = os::rough_ns()};
  }
  split_loop loop(body, options, known);
  if (p == 0) {
    // A fork would wake a worker, which takes several times as long as such a loop.
    const bool alone = is_plain && (known.is_very_brief(n) || (known.is_brief(n) && known.wants_more()));
    fj::run([&] {
      if (!alone) return loop.run(n);
      const rest_of_loop all{.begin = 0, .begun = os::rough_ns()};
      body(0, n);
      all.end(n, known);
    });
    return {.begin = n};
  }
  if (is_plain && detail::fork_wakes_worker()) {  // here, too
    if (known.is_very_brief(n)) {
      detail::begin_part();
      return {.begin = 0, .begun = os::rough_ns()};
    }
    known.note_waking();
    detail::answer();  // before the loop is timed
  }
  if (!is_plain || n == 1 || !known.is_brief(n)) {
    loop.run(n);
    return {.begin = n};
  }
  const bool times = known.wants_more() || procs_here() == 1;  // there no thief tells that the loop has become long
  const std::uint64_t begun = times ? os::rough_ns() : 0;
  const std::size_t begin = n > First ? First : 1;
  if (loop.run_or_share(0, begin, n)) return {.begin = n};
  return {.begin = begin, .begun = begun};
}

/// Whether the strand runs a loop as one part without a fork, and has begun: if earlier loops were very brief, and no
/// worker asks for what the strand has.
[[gnu::always_inline]] inline bool begins_very_brief_loop(std::size_t n, const loop_options& options,
                                                          const pace& known) noexcept {
  return options.grain == 0 && !options.stop && known.is_very_brief(n) && detail::begin_brief_part();
}

/// A part of a loop. Not inlined: all parts run the same copy of the user's code. Of several copies compilers make
/// different ones; g++ vectorizes only some. Body is a reference, or small enough for registers.
template <class Body>
[[gnu::noinline]] void part_of_loop(Body body, std::size_t begin, std::size_t end) {
  body(begin, end);
}

template <class Body>
using loop_argument =
    std::conditional_t<std::is_trivially_copyable_v<Body> && sizeof(Body) <= 2 * sizeof(void*), Body, const Body&>;

/// A loop that may have to fork.
template <class Body>
[[gnu::noinline]] void for_parts_slow(std::size_t n, loop_options options, loop_argument<Body> body) {
  pace& known = pace_of<Body>;
  const auto part = [&body](std::size_t begin, std::size_t end) {
    detail::part_of_loop<loop_argument<Body>>(body, begin, end);
  };
  const rest_of_loop rest = detail::begin_loop_slow<first_part>(n, options, known, part);
  if (rest.begin == n) return;
  part(rest.begin, n);
  rest.end(n, known);
}

/// What the body of a loop does with the numbers that it gets: something with each, or something with the block.
enum class loop_parts { of_numbers, of_blocks };

/// A loop as an observer sees it. If it sees all forks, each number is an iteration, whatever the parts are in a
/// parallel run, or each block, which the body knows; else the loop is cut as on a few P.
template <class Block = fork_block, class Body>
void for_parts_observed(std::size_t n, const loop_options& options, loop_parts are, const Body& body) {
  const std::size_t given = std::max<std::size_t>(options.grain, 1);
  const blocks all(n, are == loop_parts::of_blocks ? given : elements_a_strand(given, 1));
  const auto run_part = [&](std::size_t begin, std::size_t end) {
    throw_if_stopped(options.stop);
    body(begin, end);
  };
  fj::run([&] {
    Block loop(block_kind::loop);
    if constexpr (!sees_all_forks) {
      loop.parts(n, options.grain, run_part);
    } else if (all.count() == n && !options.stop) {  // most loops: with as little as may be for an observer to see
      loop.iterations(n, [&body](std::size_t i) { body(i, i + 1); });
    } else {
      loop.iterations(all.count(), [&](std::size_t block) { run_part(all.begin(block), all.end(block)); });
    }
  });
}

/// Calls body(begin, end) for consecutive parts of [0, n).
template <loop_parts Are = loop_parts::of_numbers, class Body>
[[gnu::always_inline]] inline void for_parts(std::size_t n, const loop_options& options, const Body& body) {
  if (n == 0) return;
  if constexpr (is_observed) return detail::for_parts_observed(n, options, Are, body);
  [[maybe_unused]] const inside_loop here;
  pace& known = pace_of<Body>;
  if (!detail::begins_very_brief_loop(n, options, known)) return detail::for_parts_slow<Body>(n, options, body);
  detail::part_of_loop<loop_argument<Body>>(body, 0, n);
  detail::end_brief_part(known);
}

}}}  // namespace fj::v0_4::detail
