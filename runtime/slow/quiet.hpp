// The slow path of a quiet fork, which does not answer the alarm while a worker looks for work.
#pragma once

#include "../fork/deque.hpp"

namespace fj::inline v0_1::detail {

/// Whether a worker looks for work and will find what was pushed last, though its owner does not attend: if the owner makes no
/// progress (deque::progress), that worker exposes it. After a push of `newest` that found the alarm
/// on. False if older records are private, too, which that worker had better take.
bool is_watched(const record& newest) noexcept;

}  // namespace fj::inline v0_1::detail
