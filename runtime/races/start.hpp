// The start of the detector.
#pragma once

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

/// Before the first access, branch or call: whichever comes first.
void start() noexcept;

}}}}  // namespace fj::v0_4::detail::races
