// What poll(2) takes for a time.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <limits>

#include "forkjoin/abi/os/clock.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// From now to `until` of now_ns, rounded up: a deadline is never early. A time that is as far away as can be is none.
inline int milliseconds_until(std::int64_t until) noexcept {
  if (until >= (std::numeric_limits<std::int64_t>::max)() - 1) return -1;
  const std::int64_t left = until <= 0 ? 0 : std::max<std::int64_t>(until - now_ns(), 0);
  return static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + (left % 1'000'000 != 0), INT_MAX));
}

}}}}  // namespace fj::v0_4::detail::os
