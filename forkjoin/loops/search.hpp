// The search for the first index that matches: what the searches and the look for sorted sequences run on.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <utility>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/options.hpp"
#include "forkjoin/stop.hpp"

namespace fj::inline v0_1::detail {

/// Looks for the first index below n at which `matches` holds. A match, and an exception likewise, ends the search to
/// the right of it; what lies left of it is still searched, as only that decides which comes first.
template <class Policy, class Matches>
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
  // `last` if there is none. An exception leaves it only from where everything before it was searched in vain.
  std::size_t within(std::size_t first, std::size_t last) {
    if (is_decided(first)) return last;
    if (last - first <= grain_) return in_block(first, last);
    const std::size_t middle = first + (last - first) / 2;
    std::exception_ptr error;
    const auto [left, right] = fork_join<Policy>([&] { return within(first, middle); },
                                                 [&]() noexcept {
                                                   try {
                                                     return within(middle, last);
                                                   } catch (...) {
                                                     error = std::current_exception();
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

  // A hint only, so nothing needs to be ordered by it: the results come by the joins.
  bool is_decided(std::size_t block) const { return end_.load(std::memory_order_relaxed) < block; }
  void end_at(std::size_t block) {
    std::size_t end = end_.load(std::memory_order_relaxed);
    while (block < end && !end_.compare_exchange_weak(end, block, std::memory_order_relaxed)) {}
  }

  Matches& matches_;
  const std::size_t grain_;
  const stop_token* const stop_;
  std::atomic<std::size_t> end_;  // a block that decides, or a place after the last element
};

/// How many elements are searched between two looks at whether others have found something.
inline constexpr std::size_t search_grain = 1024;

template <class Policy, class Matches>
std::size_t find_index(std::size_t n, Matches matches, const loop_options& options, std::size_t grain = search_grain) {
  return search<Policy, Matches>(matches, n, options.grain ? options.grain : grain, options.stop).first();
}

}  // namespace fj::inline v0_1::detail
