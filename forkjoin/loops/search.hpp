// The search for the first index that matches: the searches run on it, and the check for sorted sequences.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <utility>

#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Looks for the first index below n at which `matches` holds. A match or an exception ends the search to the right of it.
/// The search goes on to the left of it, as an earlier match or exception may be there.
template <class Matches>
class search {
 public:
  search(Matches& matches, std::size_t n, std::size_t grain, const stop_token* stop)
      : matches_(matches), grain_(grain), stop_(stop), end_(n) {}

  /// n if there is none.
  std::size_t first() {
    const std::size_t n = end_.load(std::memory_order_relaxed);
    return n == 0 ? n : within(0, n);
  }

 private:
  // Returns `last` if there is none. An exception leaves only if there is no match and no exception before it.
  std::size_t within(std::size_t first, std::size_t last) {
    if (is_decided(first)) return last;
    if (last - first <= grain_) return in_block(first, last);
    const std::size_t middle = first + (last - first) / 2;
    std::exception_ptr error;
    const auto [left, right] = fork_join([&] { return within(first, middle); },
                                         [&]() noexcept {
                                           try {
                                             return within(middle, last);
                                           } catch (...) {
                                             error = caught_exception();
                                             return last;
                                           }
                                         });
    if (left != middle) return left;
    if (error) std::rethrow_exception(std::move(error));
    return right;
  }

  std::size_t in_block(std::size_t first, std::size_t last) {
    try {
      throw_if_stopped(stop_);
      for (std::size_t i = first; i != last; ++i) {
        if (!matches_(i)) continue;
        end_at(first);
        return i;
      }
      return last;
    } catch (...) {
      end_at(first);
      throw;
    }
  }

  // relaxed: a hint; the joins order the results.
  bool is_decided(std::size_t block) const { return end_.load(std::memory_order_relaxed) < block; }
  void end_at(std::size_t block) {
    std::size_t end = end_.load(std::memory_order_relaxed);
    while (block < end && !end_.compare_exchange_weak(end, block, std::memory_order_relaxed)) {}
  }

  Matches& matches_;
  const std::size_t grain_;
  const stop_token* const stop_;
  std::atomic<std::size_t> end_;  // the first index of the leftmost block that has decided, n before that
};

/// How many elements a strand searches between two looks at whether the search is decided.
inline constexpr std::size_t search_grain = 1024;

template <class Matches>
std::size_t find_index(std::size_t n, Matches matches, const loop_options& options, std::size_t grain = search_grain) {
  return search<Matches>(matches, n, options.grain ? options.grain : grain, options.stop).first();
}

}}}  // namespace fj::v0_2::detail
