// A filter of a sequence, with a bit for each element: copy_if and stable_partition run on it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "forkjoin/loops/blocks.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/serial/observer.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// First marks by a bit each element that matches, block by block. The numbers of matches then tell where the output of
/// each block begins.
template <class It>
class filter {
  using difference = std::iter_difference_t<It>;
  using word = std::uint64_t;
  static constexpr std::size_t bits = 64;

 public:
  filter(It first, std::size_t n, std::size_t grain, const stop_token* stop)
      : first_(first),
        n_(n),
        words_per_block_(
            std::max<std::size_t>(1, blocks_of((std::min)(grain, n), bits))),  // so that no grain overflows
        marks_(std::make_unique_for_overwrite<word[]>(blocks_of(n, bits))),
        begins_(blocks_of(n, words_per_block_ * bits)),
        stop_(stop) {}

  /// Calls the test once for each element. Returns the number of matches.
  template <class Test>
  std::size_t mark(Test& test) {
    const auto mark_block = [&](std::size_t block) {
      std::size_t matches = 0;
      for_words(block, [&](std::size_t w) {
        const std::size_t begin = w * bits, n = (std::min)(bits, n_ - begin);
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

  /// Calls body(begin, end, marked) for all blocks; `marked` is the number of marks before `begin`. Ignores the stop
  /// token.
  template <class Body>
  void for_each_block(const Body& body) const {
    ordered_parts parts(nullptr);
    const auto one = [&](std::size_t block) {
      const std::size_t begin = block * words_per_block_ * bits;
      body(begin, begin + (std::min)(words_per_block_ * bits, n_ - begin), begins_[block]);
    };
    for_blocks(0, begins_.size(), parts, one);
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
    for_blocks(0, begins_.size(), parts, body);
  }

  template <class Body>
  void for_words(std::size_t block, Body body) const {
    const std::size_t end = (std::min)((block + 1) * words_per_block_, blocks_of(n_, bits));
    for (std::size_t w = block * words_per_block_; w != end; ++w) body(w);
  }

  const It first_;
  const std::size_t n_;
  const std::size_t words_per_block_;  // of marks, in a block
  const std::unique_ptr<word[]> marks_;
  std::vector<std::size_t> begins_;
  const stop_token* const stop_;
};

inline constexpr std::size_t filter_grain = elements_a_strand(8192, 64);

}}}  // namespace fj::v0_4::detail
