// Which sanitizers the program and the library are built with: it must be the same for both.
#pragma once

#include "forkjoin/abi/os/address_checker.hpp"
#include "forkjoin/abi/os/race_detector.hpp"

#ifdef FORKJOIN_ADDRESSES_ARE_CHECKED
#define FORKJOIN_BUILD library_built_with_address_sanitizer
#elif defined(FORKJOIN_RACE_DETECTOR)
#define FORKJOIN_BUILD library_built_with_thread_sanitizer
#else
#define FORKJOIN_BUILD library_built_without_sanitizer
#endif

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Defined in the library. A sanitizer in the program alone, or in the library alone, would report false errors, or
/// hang. So such a mixture does not link, and the name that the linker does not find says why.
extern const char FORKJOIN_BUILD;

[[gnu::used]] inline const char* const built_alike = &FORKJOIN_BUILD;

}}}}  // namespace fj::v0_4::detail::os
