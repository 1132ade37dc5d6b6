// Which half of a loop a strand does itself, and which half thieves may steal.
#pragma once

#include <cstddef>
#include <exception>
#include <utility>

#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/run.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Programs go over the same data loop after loop, and what a P touched last may lie in its cache. After a join another
/// P may go on, so the rule "the first half here, the second elsewhere" would move the data between caches. Instead
/// each P has a section of every loop, and does the half that its section lies in. With one P that is always the first
/// half.
class affinity {
 public:
  affinity(std::size_t begin, std::size_t end)
      : begin_(begin), size_(end - begin), procs_(procs()), section_(size_ / procs_) {}

  /// Whether the calling P does [middle, last) of [first, last) itself.
  bool takes_second(std::size_t first, std::size_t middle, std::size_t last) const noexcept {
    if (last - first <= section_) return false;  // an ancestor has decided
    const std::size_t own_middle = middle_of(static_cast<std::size_t>(this_proc()));
    return middle <= own_middle && own_middle < last;
  }

 private:
  [[gnu::noinline]] std::size_t middle_of(std::size_t p) const noexcept {
    return begin_ + section_ * p + size_ % procs_ * p / procs_ + section_ / 2;
  }

  std::size_t begin_;
  std::size_t size_;
  std::size_t procs_;
  std::size_t section_;
};

/// Forks two parts that follow each other; the calling strand does the second. The exception is still the serial
/// program's: that of the first part, if it throws.
template <class First, class Second>
[[gnu::noinline]] void fork_second_part_first(const First& first, const Second& second) {
  std::exception_ptr thrown;
  const auto second_catching = [&] {
    try {
      second();
    } catch (...) {
      thrown = caught_exception();
    }
  };
  fj::fork_join(second_catching, first);
  if (thrown) std::rethrow_exception(thrown);
}

/// Forks two parts that follow each other. The calling strand may do the second part before the first. Inlined, as a
/// copy of closures that were stored a moment ago would wait for these stores.
template <class First, class Second>
[[gnu::always_inline]] inline void fork_parts(bool second_here, First first, Second second) {
  if (second_here) return detail::fork_second_part_first(first, second);
  fj::fork_join(std::move(first), std::move(second));
}

}}}  // namespace fj::v0_2::detail
