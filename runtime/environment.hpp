// Makes the scheduler's settings from the user's options and the environment variables.
#pragma once

#include "base/settings.hpp"
#include "options.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Resolves defaults (environment, affinity, cgroup, membarrier) and checks values. Throws std::invalid_argument with a
/// message that names the value and the remedy.
settings resolve(const options& wanted);

/// Whether the environment variable is 1 or 0; `otherwise` if it is unset or empty. Throws like resolve.
bool flag_from_environment(const char* name, bool otherwise);

}}}  // namespace fj::v0_2::detail
