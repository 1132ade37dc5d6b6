// The parts of a loop in order: whether the next may start, and whose exception comes first.
#pragma once

#include <cstddef>
#include <utility>

#include "forkjoin/detail/function_ref.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loops/earliest.hpp"
#ifndef FORKJOIN_SERIAL
#include "forkjoin/loops/forked_sections.hpp"
#endif
#include "forkjoin/loops/sections.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Called before a part of the work starts: throws cancelled if the token was asked to stop. The exception acts as any
/// other: parts that run are joined, and parts further right that have not started do not start.
inline void throw_if_stopped(const stop_token* stop) {
  if (stop && stop->stop_requested()) throw cancelled();
}

/// The parts of a loop, each at its place in order. When a part has thrown, parts right of it do not start any more.
/// Parts left of it do, as they decide what the serial program would have thrown.
class ordered_parts {
 public:
  explicit ordered_parts(const stop_token* stop) noexcept : stop_(stop) {}

  /// Called before parts from this place on start: throws cancelled if they must not. The user sees that exception
  /// after a request to stop only; where a part has thrown, its exception comes first, as it stands further left.
  void begin(std::size_t place) {
    if (thrown_.is_before(place)) throw cancelled();
    throw_if_stopped(stop_);
  }

  /// Calls part() and returns its result. Throws what it throws, and as begin.
  template <class Part>
  auto run(std::size_t place, Part part) {
    begin(place);
    try {
      return part();
    } catch (...) {
      thrown_.note(place);
      throw;
    }
  }

 private:
  const stop_token* const stop_;
  earliest thrown_;
};

/// Where [first, last) is halved. Reductions of all kinds do it here: their trees must be the same, so that their sums
/// are.
constexpr std::size_t middle_of(std::size_t first, std::size_t last) noexcept { return first + (last - first) / 2; }

/// Calls a body for blocks that follow each other, in a tree of forks. Its forks carry two numbers each, as their way
/// back to all else is one pointer: where a loop has a grain of one element, the forks are much of its time. The tree
/// depends on the number of blocks alone. Its upper forks, down to a few subtrees for each P, stand for no blocks
/// (sections.hpp).
class block_tree {
 public:
  block_tree(ordered_parts& parts, function_ref<void(std::size_t)> body) : parts_(parts), body_(body) {}

  /// Of [first, last), not empty.
  void run(std::size_t first, std::size_t last) const {
    const unsigned p = procs(), count = sections::of_tree(last - first, p);
    if (count == 1) return run_section(first, last);
    const auto run_one = [=, this](unsigned number) {
      const auto [begin, end] = subtree(first, last, number, count);
      run_section(begin, end);
    };
    forked_sections(count, p, run_one).run();
  }

 private:
  // The bits of a subtree's number say where it lies: the first half or the second, from the root on.
  static std::pair<std::size_t, std::size_t> subtree(std::size_t first, std::size_t last, unsigned number,
                                                     unsigned count) noexcept {
    while (count /= 2) (number & count ? first : last) = middle_of(first, last);
    return {first, last};
  }

  void run_section(std::size_t first, std::size_t last) const {
    if (last - first == 1) return parts_.run(first, [this, first] { body_(first); });
    const std::size_t middle = middle_of(first, last);
    fj::fork_join([this, first, middle] { run_section(first, middle); },
                  [this, middle, last] { run_section(middle, last); });
  }

  ordered_parts& parts_;
  const function_ref<void(std::size_t)> body_;
};

/// Calls body(block) for all of [first, last).
inline void for_blocks(std::size_t first, std::size_t last, ordered_parts& parts,
                       function_ref<void(std::size_t)> body) {
  if (first != last) block_tree(parts, body).run(first, last);
}

}}}  // namespace fj::v0_4::detail
