// Names and marks for traces.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <string_view>

#include "forkjoin/run.hpp"

namespace fj { inline namespace v0_4 {

/// Names the calling strand in a trace (runtime::trace_to), in place of the function that it runs:
/// fj::trace_name("parse"). An empty text takes the name back. Nothing outside any runtime, or while no trace is
/// written. At most 65,535 bytes, the rest is cut off; all texts of a trace together have room for 256 KiB, and what
/// finds none is left out. A tenth of a microsecond.
inline void trace_name([[maybe_unused]] std::string_view text) noexcept {
#ifndef FORKJOIN_SERIAL
  detail::trace_name(text.data(), text.size());
#endif
}

/// Puts a mark into a trace, at this moment and strand: fj::trace_mark("frame 7"). An empty text is a mark without one.
/// As trace_name otherwise.
inline void trace_mark([[maybe_unused]] std::string_view text) noexcept {
#ifndef FORKJOIN_SERIAL
  detail::trace_mark(text.data(), text.size());
#endif
}

}}  // namespace fj::v0_4
