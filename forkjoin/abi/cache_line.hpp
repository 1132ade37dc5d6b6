// The distance in memory at which two writers do not disturb each other.
#pragma once

#include <cstddef>

namespace fj { inline namespace v0_4 { namespace detail {

/// Bytes per cache line. 64 on every x86-64 and on most aarch64 machines; a constant rather than
/// std::hardware_destructive_interference_size, which g++ warns about because it varies with tuning flags.
inline constexpr std::size_t cache_line = 64;

}}}  // namespace fj::v0_4::detail
