// The search for the first index that matches: the searches run on it, and the check for sorted sequences.
#pragma once

#include <cstddef>
#include <exception>
#include <utility>

#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/earliest.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/serial/observer.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Looks for the first index below n at which `matches` holds. A match or an exception ends the search to the right of
/// it. The search goes on to the left of it, as an earlier match or exception may be there.
template <class Matches>
class search {
 public:
  search(Matches& matches, std::size_t n, std::size_t grain, const stop_token* stop)
      : matches_(matches), grain_(grain), stop_(stop), end_(n) {}

  /// n if there is none.
  std::size_t first() {
    const std::size_t n = end_.place();
    return n == 0 ? n : within(0, n);
  }

 private:
  // Returns `last` if there is none. An exception leaves only if there is no match and no exception before it.
  std::size_t within(std::size_t first, std::size_t last) {
    if (end_.is_before(first)) return last;
    if (last - first <= grain_) return in_block(first, last);
    const std::size_t middle = middle_of(first, last);
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
        end_.note(first);
        return i;
      }
      return last;
    } catch (...) {
      end_.note(first);
      throw;
    }
  }

  Matches& matches_;
  const std::size_t grain_;
  const stop_token* const stop_;
  earliest end_;  // the first index of the leftmost block that has decided, n before that
};

/// How many elements a strand searches between two looks at whether the search is decided.
inline constexpr std::size_t search_grain = elements_a_strand(1024, 16);

template <class Matches>
std::size_t find_index(std::size_t n, Matches matches, const loop_options& options, std::size_t grain = search_grain) {
  return search<Matches>(matches, n, options.grain ? options.grain : grain, options.stop).first();
}

}}}  // namespace fj::v0_4::detail
