// System calls that a signal may end.
#pragma once

#include <cerrno>
#include <cstddef>

#include "runtime/os/io/io.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

// A signal handler may run at any time; what it interrupted begins again.
template <class Call>
io uninterrupted(Call call) noexcept {
  for (;;) {
    const auto result = call();
    if (result >= 0) return {.result = static_cast<std::size_t>(result)};
    if (errno != EINTR) return {.error = errno};
  }
}

}}}}  // namespace fj::v0_4::detail::os
