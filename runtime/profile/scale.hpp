// How long strands take in windows, by how long they are as the readings say: strands.cpp. A strand that is timed comes
// after the profile's own work, with other things in the caches, and a reading does not tell a strand of three
// nanoseconds from one of nine; a window of a few hundred strands has neither fault. The middle half of the windows
// counts: some others met an interrupt, or a strand that is rarely long.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

class scale {
 public:
  /// Bounds of the factor.
  scale(double least, double most) noexcept : least_(least), most_(most) {}

  /// The ticks of the window that such strands took, and that the readings say.
  void add(double passed, double measured) {
    if (ratios_.size() < most_windows) ratios_.emplace_back();
    ratios_[seen_++ % most_windows] = {passed / measured, measured};
  }

  /// Whether there were enough windows. Until then the factor is 1.
  bool is_known() const noexcept { return seen_ >= least_windows; }

  /// Sorts only if a quarter more windows have been seen: one in a few hundred strands asks.
  double factor() {
    if (!is_known() || seen_ < sort_at_) return factor_;
    sort_at_ = seen_ + seen_ / 4;
    std::ranges::sort(sorted_ = ratios_, {}, &one::ratio);
    double passed = 0, measured = 0;
    for (std::size_t i = sorted_.size() / 4; i != sorted_.size() - sorted_.size() / 4; ++i) {
      passed += sorted_[i].ratio * sorted_[i].measured;
      measured += sorted_[i].measured;
    }
    return factor_ = std::clamp(passed / measured, least_, most_);
  }

 private:
  static constexpr std::uint64_t least_windows = 8, most_windows = 4096;
  struct one {
    double ratio, measured;
  };
  std::vector<one> ratios_, sorted_;
  std::uint64_t seen_ = 0, sort_at_ = 0;
  double factor_ = 1, least_, most_;
};

}}}}  // namespace fj::v0_4::detail::profile
