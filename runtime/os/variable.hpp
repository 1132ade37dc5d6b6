// Environment variables.
#pragma once

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Whether the process has rights that the user who started it lacks: by setuid, setgid, or capabilities of its file.
/// Then the environment and what it leads to, such as commands that PATH finds, are not to be trusted.
bool has_rights_of_others() noexcept;

/// What the variable is set to; nullptr if it is unset or empty, or the process has_rights_of_others. All variables of
/// the library are read here.
const char* variable(const char* name) noexcept;

}}}}  // namespace fj::v0_4::detail::os
