// The library's side of fj::sleep_until and fj::sleep_for (runtime/wait/sleep.cpp).
#pragma once

#include <cstdint>

#include "forkjoin/abi/waiter.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Until that time of os::now_ns; `served` if it came before both limits. Lets others run in any case. Throws
/// std::bad_alloc.
wait_end sleep_until(std::int64_t at, const wait_limits& limits);

}}}  // namespace fj::v0_4::detail
