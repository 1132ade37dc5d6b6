// Environment variables.
#pragma once

#include <stdlib.h>
#include <sys/auxv.h>

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

/// Whether the process has rights that the user who started it lacks: by setuid, setgid, or capabilities of its file. Then the environment
/// and what it leads to, such as commands that PATH finds, are not to be trusted.
inline bool has_rights_of_others() noexcept { return getauxval(AT_SECURE) != 0; }

/// What the variable is set to; nullptr if it is unset or empty, or the process has_rights_of_others. All variables of the library are
/// read here.
inline const char* variable(const char* name) noexcept {
  const char* const text = secure_getenv(name);
  return text && *text ? text : nullptr;
}

}}}}  // namespace fj::v0_2::detail::os
