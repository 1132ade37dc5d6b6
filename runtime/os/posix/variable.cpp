#include "runtime/os/variable.hpp"

#include <stdlib.h>
#include <unistd.h>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

// Capabilities of a file are beyond POSIX.
bool has_rights_of_others() noexcept { return getuid() != geteuid() || getgid() != getegid(); }

const char* variable(const char* name) noexcept {
  const char* const text = has_rights_of_others() ? nullptr : getenv(name);
  return text && *text ? text : nullptr;
}

}}}}  // namespace fj::v0_4::detail::os
