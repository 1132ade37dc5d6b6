#include "runtime/os/variable.hpp"

#include <stdlib.h>
#include <sys/auxv.h>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

bool has_rights_of_others() noexcept { return getauxval(AT_SECURE) != 0; }

const char* variable(const char* name) noexcept {
  const char* const text = secure_getenv(name);
  return text && *text ? text : nullptr;
}

}}}}  // namespace fj::v0_4::detail::os
