// The core of a wait for one of several channels.
#pragma once

#include <span>

#include "select_protocol.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// selection::one_of, after giving way.
selection::result select_one(std::span<select_case* const> cases, std::span<select_place> places, bool waits,
                             const wait_limits& limits);

}}}  // namespace fj::v0_2::detail
