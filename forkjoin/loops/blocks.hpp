// The division of a sequence into blocks that depends on its length and the grain alone.
#pragma once

#include <algorithm>
#include <cstddef>

namespace fj { inline namespace v0_4 { namespace detail {

/// How many blocks of that size hold so many elements.
constexpr std::size_t blocks_of(std::size_t elements, std::size_t block) {
  return elements / block + (elements % block != 0);
}

/// The largest block of a scan, which is read twice and must stay in a cache; and of a reduction. At the end of each
/// block of a reduction memory is idle while the lanes are summed.
inline constexpr std::size_t scanned_block = 16384, reduce_block = 65536;

/// How many elements a block has without a grain: there are at least a few hundred blocks, so that a few expensive
/// elements can be shared out, too; and no block is larger than `largest`, but in sequences of so many elements that
/// what is kept of each block would take much memory.
constexpr std::size_t usual_block(std::size_t elements, std::size_t least, std::size_t largest) {
  constexpr std::size_t most_blocks = std::size_t{1} << 20;
  return std::clamp(elements / 128, least, (std::max)(largest, elements / most_blocks));
}

/// Blocks of equal size, save the last. A result that is computed block by block, and then from the blocks in a tree
/// over their numbers, does not depend on which strand computes which block.
class blocks {
 public:
  /// With grain 0 as many as usual.
  constexpr blocks(std::size_t elements, std::size_t grain, std::size_t largest = scanned_block) noexcept
      : elements_(elements), size_(grain ? grain : detail::usual_block(elements, 1, largest)) {}

  constexpr std::size_t count() const noexcept { return blocks_of(elements_, size_); }
  std::size_t begin(std::size_t block) const noexcept { return block * size_; }
  std::size_t end(std::size_t block) const noexcept { return begin(block) + size_of(block); }
  /// The first block that begins at this element or later.
  std::size_t after(std::size_t element) const noexcept { return blocks_of(element, size_); }
  std::size_t size_of(std::size_t block) const noexcept { return (std::min)(size_, elements_ - begin(block)); }

 private:
  std::size_t elements_;
  std::size_t size_;
};

/// The largest block that a body folds, whose value is ready when its loop ends. With blocks of 65,536 elements two P
/// wait for one another at the end, for 3 % of the time of a sum of 4 million numbers.
inline constexpr std::size_t body_block = 8192;

}}}  // namespace fj::v0_4::detail
