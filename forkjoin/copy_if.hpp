// The elements that match, elsewhere.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <utility>
#include <vector>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loops/algorithm.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/run.hpp"

namespace fj::inline v0_1 {

namespace detail {

/// Blocks of elements, for each of which a bit is noted first; when it is known how many match in each block, all blocks
/// know where their output begins.
template <class Policy, class I>
class filter {
  using difference = std::iter_difference_t<I>;
  using word = std::uint64_t;
  static constexpr std::size_t bits = 64;

 public:
  filter(I first, std::size_t n, std::size_t grain, const stop_token* stop)
      : first_(first),
        n_(n),
        words_(std::max<std::size_t>(1, blocks_of(std::min(grain, n), bits))),  // so that no grain overflows
        marks_(std::make_unique_for_overwrite<word[]>(blocks_of(n, bits))),
        begins_(blocks_of(n, words_ * bits)),
        stop_(stop) {}

  /// Calls the test once for each element. Returns how many match.
  template <class Test>
  std::size_t mark(Test& test) {
    const auto mark_block = [&](std::size_t block) {
      std::size_t matches = 0;
      for_words(block, [&](std::size_t w) {
        const std::size_t begin = w * bits, n = std::min(bits, n_ - begin);
        word mark = 0;
        for (std::size_t i = 0; i != n; ++i)
          mark |= static_cast<word>(test(first_[static_cast<difference>(begin + i)])) << i;
        marks_[w] = mark;
        matches += static_cast<std::size_t>(std::popcount(mark));
      });
      begins_[block] = matches;
    };
    for_all_blocks(mark_block);
    std::size_t all = 0;
    for (std::size_t& begin : begins_) begin = std::exchange(all, all + begin);
    return all;
  }

  bool is_marked(std::size_t element) const { return (marks_[element / bits] >> element % bits & 1) != 0; }

  /// Calls body(begin, end, marked) for all blocks, where so many elements before `begin` are marked. Whatever the token says.
  template <class Body>
  void for_each_block(const Body& body) const {
    ordered_parts parts(nullptr);
    const auto one = [&](std::size_t block) {
      const std::size_t begin = block * words_ * bits;
      body(begin, begin + std::min(words_ * bits, n_ - begin), begins_[block]);
    };
    for_blocks<Policy>(0, begins_.size(), parts, one);
  }

  template <class Out>
  void copy_to(Out out) {
    const auto copy_block = [&](std::size_t block) {
      Out to = out + static_cast<std::iter_difference_t<Out>>(begins_[block]);
      for_words(block, [&](std::size_t w) {
        for (word mark = marks_[w]; mark != 0; mark &= mark - 1, static_cast<void>(++to))
          *to = first_[static_cast<difference>(w * bits) + std::countr_zero(mark)];
      });
    };
    for_all_blocks(copy_block);
  }

 private:
  template <class Body>
  void for_all_blocks(const Body& body) {
    ordered_parts parts(stop_);
    for_blocks<Policy>(0, begins_.size(), parts, body);
  }

  template <class Body>
  void for_words(std::size_t block, Body body) const {
    const std::size_t end = std::min((block + 1) * words_, blocks_of(n_, bits));
    for (std::size_t w = block * words_; w != end; ++w) body(w);
  }

  const I first_;
  const std::size_t n_;
  const std::size_t words_;  // of marks, in a block
  const std::unique_ptr<word[]> marks_;
  std::vector<std::size_t> begins_;
  const stop_token* const stop_;
};

inline constexpr std::size_t filter_grain = 8192;

template <class I, class Out, class Predicate, class Projection>
consteval auto why_not_copy_if() {
  if constexpr (!std::random_access_iterator<I> || !std::random_access_iterator<Out>) {
    return refusal(
        "fj::parallel_copy_if: needs random-access iterators, for the output, too, to begin in several places at once; "
        "give it the room it needs instead of a std::back_inserter");
  } else if constexpr (!divisible_output<Out>) {
    return refusal(
        "fj::parallel_copy_if: neighbours in a std::vector<bool> cannot be written at the same time; use a "
        "std::vector<char>");
  } else if constexpr (!std::indirectly_copyable<I, Out>) {
    return refusal("fj::parallel_copy_if: elements of the input must be assignable to the output");
  } else if constexpr (!tests<Predicate, I, Projection>) {
    return refusal("fj::parallel_copy_if: the predicate must be callable with a (projected) element and return bool");
  } else {
    return not_refused;
  }
}

}  // namespace detail

/// Copies the elements for which pred(proj(element)) holds to the sequence that begins at out, in their order, and
/// returns its end, as std::ranges::copy_if. The output needs room for those elements only, and must not overlap the
/// input.
///
/// pred and proj are called once for each element, possibly at the same time on several threads, all before the first
/// copy is made. Exceptions: the leftmost of pred and proj, else the leftmost of a copy, is rethrown after all that was
/// started has ended. fj::cancelled if options.stop was asked before all parts had started. After either the output may
/// be partly written. options.grain: elements done without forking, rounded up to a multiple of 64; 0 for some thousand.
/// Outside of a runtime it enters the default one.
///
/// Cost: two passes over the elements, and memory of a bit for each; span O(n / grain).
template <class Policy = continuations, class I, class S, class Out, class Predicate, class Projection = std::identity>
  requires std::sentinel_for<S, I> && detail::like_iterator<Out> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_copy_if<I, Out, Predicate, Projection>()>
Out parallel_copy_if(I first, S last, Out out, Predicate pred, Projection proj = {}, const loop_options& options = {}) {
  const std::size_t n = detail::size_between(first, last);
  const auto test = [&](auto&& element) {
    return static_cast<bool>(std::invoke(pred, std::invoke(proj, std::forward<decltype(element)>(element))));
  };
  return run([&] {
    detail::filter<Policy, I> chosen(first, n, options.grain ? options.grain : detail::filter_grain, options.stop);
    const std::size_t matches = chosen.mark(test);
    chosen.copy_to(out);
    return out + static_cast<std::iter_difference_t<Out>>(matches);
  });
}

template <class Policy = continuations, class I, class S, class Out, class Predicate>
  requires std::sentinel_for<S, I> && detail::like_iterator<Out> &&
           detail::accepted<detail::why_not_copy_if<I, Out, Predicate, std::identity>()>
Out parallel_copy_if(I first, S last, Out out, Predicate pred, const loop_options& options) {
  return fj::parallel_copy_if<Policy>(first, last, out, std::move(pred), std::identity(), options);
}

template <class Policy = continuations, class I, class S, class Out, class Predicate, class Projection = loop_options,
          class = detail::when<std::sentinel_for<S, I> && detail::like_iterator<Out>>,
          auto Why = detail::why_not_copy_if<I, Out, Predicate, detail::given<Projection, std::identity>>()>
  requires(!detail::accepted<Why>)
Out parallel_copy_if(I first, S last, Out out, Predicate pred, Projection proj = {},
                     const loop_options& options = {}) = delete;

template <class Policy = continuations, std::ranges::range R, class Out, class Predicate,
          class Projection = std::identity>
  requires detail::not_options<Projection> &&
           detail::accepted<detail::why_not_copy_if<std::ranges::iterator_t<R>, Out, Predicate, Projection>()>
Out parallel_copy_if(R&& range, Out out, Predicate pred, Projection proj = {}, const loop_options& options = {}) {
  return fj::parallel_copy_if<Policy>(std::ranges::begin(range), std::ranges::end(range), out, std::move(pred),
                                      std::move(proj), options);
}

template <class Policy = continuations, std::ranges::range R, class Out, class Predicate>
  requires detail::accepted<detail::why_not_copy_if<std::ranges::iterator_t<R>, Out, Predicate, std::identity>()>
Out parallel_copy_if(R&& range, Out out, Predicate pred, const loop_options& options) {
  return fj::parallel_copy_if<Policy>(std::forward<R>(range), out, std::move(pred), std::identity(), options);
}

template <class Policy = continuations, std::ranges::range R, class Out, class Predicate,
          class Projection = loop_options, class = detail::when<!detail::array_end<Predicate>>,
          auto Why = detail::why_not_copy_if<std::ranges::iterator_t<R>, Out, Predicate,
                                             detail::given<Projection, std::identity>>()>
  requires(!detail::accepted<Why>)
Out parallel_copy_if(R&& range, Out out, Predicate pred, Projection proj = {},
                     const loop_options& options = {}) = delete;

}  // namespace fj::inline v0_1
