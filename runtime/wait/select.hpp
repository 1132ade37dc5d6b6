// The core of a wait for one of several channels.
#pragma once

#include <span>

#include "select_protocol.hpp"
#include "system.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

using select_case = basic_select_case<wait_system>;
using select_place = basic_select_place<wait_system>;
using selected = basic_select<wait_system>::result;

/// basic_select::one_of.
selected select_one(std::span<select_case* const> cases, std::span<select_place> places, bool waits,
                    const wait_limits& limits);

}}}  // namespace fj::v0_2::detail
