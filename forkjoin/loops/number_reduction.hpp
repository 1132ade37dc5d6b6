// Reductions to numbers and other small values: they are kept, and combined when all are there.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/blocks.hpp"
#include "forkjoin/loops/chunks.hpp"
#include "forkjoin/loops/earliest.hpp"
#include "forkjoin/loops/fold.hpp"
#include "forkjoin/loops/fold_iterations.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/loops/split_loop.hpp"
#include "forkjoin/serial/observer.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Values that cost very little to keep: a reduction passes over them twice, because that costs less than forks of
/// small blocks.
template <class T>
concept plain_number = std::is_arithmetic_v<T>;

/// Values of blocks that a reduction keeps until all are there, as numbers and structures of a few numbers. In the
/// forks of class reduction larger ones take the room of one path through the tree only.
template <class T>
concept small_value = std::is_trivially_copyable_v<T> && std::default_initializable<T> && sizeof(T) <= 64;

/// How many plain numbers are kept on the stack, in at most 8 KiB, and how many a block has at least.
template <class T>
inline constexpr std::size_t most_kept = (std::min)(std::size_t{1024}, 8192 / sizeof(T));
inline constexpr std::size_t least_block = 64;

/// The values of a reduction, which are in `kept`, are computed before op gets them. So when one throws, op may have an
/// exception to throw that comes first, of the values before. In the handler of what leaves the reduction: if that is
/// the exception of the first value to throw, fold(read) folds the values by read(T*), which throws it in place of that
/// value. All values before it are there: loops run what stands left of an exception, unless they are stopped.
template <class T, class Fold>
[[noreturn, gnu::cold, gnu::noinline]] void rethrow_first(const earliest& thrower, T* kept, const loop_options& options,
                                                          const Fold& fold) {
  if (thrower.place() != earliest::none && !(options.stop && options.stop->stop_requested())) {
    const auto read = [at_thrower = kept + thrower.place(), thrown = std::current_exception()](T* at) -> T&& {
      if (at == at_thrower) std::rethrow_exception(thrown);
      return std::move(*at);
    };
    static_cast<void>(fold(read));
  }
  throw;
}

/// As an rvalue, since an operation may ask for one. Not a copy: a copy would be rounded once more. Not a lambda: in a
/// source that imports the module and then includes the headers, clang 19 would see two.
struct read_kept_t {
  template <class T>
  T&& operator()(T* at) const {
    return std::move(*at);
  }
};
inline constexpr read_kept_t read_kept{};

/// The sum of n sums in the tree of class reduction.
template <class T, class Read, class Op>
T sum_of_sums(T* sums, std::size_t n, const Read& read, Op& op) {
  if (n == 1) return read(sums);
  const std::size_t middle = middle_of(0, n);
  T left = detail::sum_of_sums(sums, middle, read, op);
  return static_cast<T>(std::invoke(op, std::move(left), detail::sum_of_sums(sums + middle, n - middle, read, op)));
}

/// Of few numbers, where the strand may have to fork: a loop keeps them.
template <class T, class It, class Value, class Op>
[[gnu::noinline]] T reduce_few_slow(const It& first, std::size_t n, const Value& value, Op& op, loop_options options) {
  pace& known = pace_of<Value>;
  // Not an array of most_kept: reductions within reductions would need 8 KiB of a stack each.
  T* const kept = static_cast<T*>(__builtin_alloca(n * sizeof(T)));
  earliest thrower;
  const auto keep = [&, kept](std::size_t begin, std::size_t end) {
    T* to = kept + begin;
    try {
      It at = detail::advanced(first, begin);
      const Value own(value);  // no pointer leads there
      for (; to != kept + end; ++to, static_cast<void>(++at)) *to = own(at);
    } catch (...) {
      thrower.note(static_cast<std::size_t>(to - kept));
      throw;
    }
  };
  try {
    if constexpr (is_observed) {
      detail::for_parts(n, options, keep);
      return detail::fold<T>(kept, n, read_kept, op);
    }
    const rest_of_loop rest = detail::begin_loop_slow<fold_width<T>>(n, options, known, keep);
    const auto sum = [&]() -> T {
      if (rest.begin == 0) return detail::fold<T>(first, n, value, op);
      if (rest.begin == fold_width<T> && n >= 2 * fold_width<T>)
        return detail::fold_on<T>(kept, detail::advanced(first, rest.begin), n - rest.begin, value, op);
      if (rest.begin != n) keep(rest.begin, n);
      return detail::fold<T>(kept, n, read_kept, op);
    };
    const T found = sum();
    if (rest.begin != n) rest.end(n, known);
    return found;
  } catch (...) {
    detail::rethrow_first(thrower, kept, options,
                          [kept, n, &op](const auto& read) { return detail::fold<T>(kept, n, read, op); });
  }
}

/// The sum of the values of all blocks: a loop calls leaf(block) for each and keeps the values. So the strand begins
/// alone, as with any loop.
template <class T, class Leaf, class Op>
T reduce_kept(const blocks& all, Leaf leaf, Op& op, const loop_options& options) {
  const auto kept = std::make_unique_for_overwrite<T[]>(all.count());
  earliest thrower;
  try {
    detail::for_parts(all.count(), options, [&, leaf](std::size_t begin, std::size_t end) {
      try {
        for (; begin != end; ++begin) kept[begin] = leaf(begin);
      } catch (...) {
        thrower.note(begin);
        throw;
      }
    });
    return detail::sum_of_sums<T>(kept.get(), all.count(), read_kept, op);
  } catch (...) {
    detail::rethrow_first(thrower, kept.get(), options,
                          [&](const auto& read) { return detail::sum_of_sums<T>(kept.get(), all.count(), read, op); });
  }
}

/// Of many numbers.
template <class T, class It, class Value, class Op>
[[gnu::noinline]] T reduce_many(const It& first, std::size_t n, const Value& value, Op& op, loop_options options) {
  const blocks all(n, detail::usual_block(n, least_block, reduce_block));
  const auto leaf = [&](std::size_t block) {
    if constexpr (sees_all_forks) {
      return detail::fold_iterations<T>(detail::advanced(first, all.begin(block)), all.size_of(block), value, op);
    } else {
      return detail::fold<T>(detail::advanced(first, all.begin(block)), all.size_of(block), value, op);
    }
  };
  return detail::reduce_kept<T>(all, leaf, op, options);
}

/// Of few numbers, on the calling strand.
template <class T, class It, class Value, class Op>
[[gnu::noinline, gnu::hot]] T fold_brief(loop_argument<It> first, std::size_t n, loop_argument<Value> value, Op& op) {
  return n < 2 * fold_width<T> ? detail::fold_few<T>(first, n, value, op) : detail::fold<T>(first, n, value, op);
}

/// Of numbers. A loop without a grain computes what is summed, one by one or, if these are many, the sums of blocks. So
/// the strand begins alone, as any such loop, and a few elements that take long are shared out.
template <class T, class It, class Value, class Op>
[[gnu::always_inline]] inline T reduce_numbers(const It& first, std::size_t n, Value value, Op& op,
                                               const loop_options& options) {
  [[maybe_unused]] const inside_loop here;
  if constexpr (is_observed) {
    if (n > most_kept<T>) return detail::reduce_many<T>(first, n, value, op, options);
    if constexpr (sees_all_forks) return detail::fold_iterations<T>(first, n, value, op);
  }
  pace& known = pace_of<Value>;  // of few only
  // Copies, so that nothing leads to what the sum of very few reads, and the compiler keeps that in registers.
  if (!detail::begins_very_brief_loop(n, options, known)) {
    if (n > most_kept<T>) return detail::reduce_many<T>(It(first), n, Value(value), op, options);
    return detail::reduce_few_slow<T>(It(first), n, Value(value), op, options);
  }
  const T sum = n < fold_width<T> ? detail::fold_very_few<T>(first, n, value, op)
                                  : detail::fold_brief<T, It, Value>(It(first), n, Value(value), op);
  detail::end_brief_part(known);
  return sum;
}

}}}  // namespace fj::v0_4::detail
