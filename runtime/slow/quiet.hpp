// The slow path of a quiet fork, which does not answer the alarm while a worker looks for work.
#pragma once

#include "../fork/deque.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// As deque::is_watched, also if no worker has said that it looks at this deque: whether one looks for work, and will find what was
/// pushed last, though its owner does not attend. If the owner makes no progress (deque::progress), that worker exposes it.
bool is_watched_slow(const record& newest) noexcept;

}}}  // namespace fj::v0_2::detail
