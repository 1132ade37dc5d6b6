// The calls that a thread is in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// The return addresses of the calls that lead here, the innermost first, at most so many. Some microseconds.
std::vector<std::uintptr_t> callers(std::size_t most);

}}}}  // namespace fj::v0_4::detail::os
