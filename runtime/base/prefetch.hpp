// Asks for memory before it is needed.
#pragma once

#include <cstddef>

#include "forkjoin/abi/cache_line.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Has the CPU bring that memory, which the caller writes soon, to its cache, and does not wait. The memory need not be
/// there, nor belong to anything.
inline void prefetch(const void* begin, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += cache_line) __builtin_prefetch(static_cast<const char*>(begin) + at, 1);
}

}}}  // namespace fj::v0_4::detail
